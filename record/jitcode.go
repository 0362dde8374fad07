package record

import (
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// jitCode knows the code that a process makes while it runs: what it registers by GDB's JIT
// interface, and what it writes to jitdumps.
type jitCode struct {
	follow *jit.Follower // nil where there is no memory to read
	dumps  []*jit.Dump   // that the process has mapped
	paths  []fileAt      // of dumps
	looked uint64        // when there was a look at what is new, on the clock of the samples
	pause  uint64        // until the next look
	now    uint64        // the time of the sample that is walked
	doubt  bool          // a frame of the sample is in code that the process may have made: it writes later what was there
}

// forgetRows forgets what the sniffers know of the process's code.
func (s *space) forgetRows() {
	s.forgetPlaces()
	if s.walker != nil {
		s.walker.Reset()
		s.table.Forget()
	}
}

// lookPause is how often there is a look at what a process has made, at most, in the samples' time.
// What is found has samples named anew: for each frame of these, the next look is namePause later.
const (
	lookPause = uint64(100 * time.Millisecond)
	namePause = uint64(2 * time.Microsecond)
)

// follow begins to look up what the process has made, among modules, which are new.
func (s *space) follow(mem target.Memory) {
	before := len(s.jit.dumps)
	for _, f := range procmaps.Files(s.maps) {
		at := fileAtOf(f)
		if !jit.IsDump(f.Path) || !f.Code || len(s.jit.dumps) >= jit.MaxDumps || slices.Contains(s.jit.paths, at) {
			continue
		}
		s.jit.paths = append(s.jit.paths, at)
		s.jit.dumps = append(s.jit.dumps, jit.NewDump(f.Path, s.arch, func() (jit.File, error) { return s.host.file(s.pid, f) }))
	}
	if len(s.jit.dumps) > before {
		s.readDumps(s.reader())
	}
	if mem != nil && s.jit.follow == nil {
		s.jit.follow = jit.NewFollower(mem, s.arch, s.opts.Warn)
	}
	if s.jit.follow == nil && len(s.jit.dumps) == 0 {
		return
	}
	modules := s.modules
	modules.Register(func() (r target.Registered) {
		if s.jit.follow != nil {
			r.Objects = s.jit.follow.Objects(modules)
		}
		if len(s.jit.dumps) > 0 {
			r.At = func(addr uint64) *target.Module { return jit.At(s.jit.dumps, addr, s.jit.now) }
		}
		return r
	})
}

// time returns when a sample was taken, on the clock of jitdumps. The clock of a recorded file may
// be another one: then the code that was made last counts.
func (e *engine) time(s *perfevent.Sample) uint64 {
	if e.otherClock {
		return jit.Latest
	}
	return s.Time
}

// begin begins with a sample. It finds out what the process has made since the last look. Samples
// that were named without it are named anew.
func (s *space) begin(now uint64) {
	m := &s.jit
	m.now, m.doubt = now, false
	if s.named.due(now) {
		s.forgetRows()
	}
	if m.now-m.looked < lookPause+m.pause && m.looked != 0 {
		return
	}
	m.looked = m.now
	if m.follow != nil && m.follow.Changed() {
		s.stale = true
	}
	s.readDumps(s.reader())
}

// reader returns how jitdumps are read: some of a file at a time while its process may write to it.
func (s *space) reader() func(*jit.Dump) (more bool, err error) {
	if s.file != nil {
		return (*jit.Dump).ReadAll
	}
	return (*jit.Dump).Read
}

// readDumps reads on in the jitdumps.
func (s *space) readDumps(read func(*jit.Dump) (more bool, err error)) {
	more := false
	for _, d := range s.jit.dumps {
		grown, err := read(d)
		if err != nil {
			s.opts.Warn("%v", err)
		}
		more = more || grown
	}
	if more {
		s.forgetRows()
		s.jit.pause = namePause * uint64(s.rename())
	}
}

// finish finds out what the process has made at last. Nothing more is to come.
func (s *space) finish() {
	if len(s.jit.dumps) > 0 {
		s.readDumps((*jit.Dump).ReadAll)
		s.setUnsure(slices.DeleteFunc(s.unsure, func(u unsure) bool { return u.space == s }))
	}
}

// lookAtAll finds out what all processes have made.
func (e *engine) lookAtAll() {
	for _, s := range e.spaces {
		s.readDumps((*jit.Dump).ReadAll)
	}
}
