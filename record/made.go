package record

import (
	"math"
	"os"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// made knows the code that a process makes while it runs: what it registers by GDB's JIT interface,
// and what it writes to jitdumps.
type made struct {
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
	clear(s.places[:])
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
	before := len(s.made.dumps)
	for _, f := range procmaps.Files(s.maps) {
		at := fileAtOf(f)
		if !jit.IsDump(f.Path) || !f.Code || len(s.made.dumps) >= jit.MaxDumps || slices.Contains(s.made.paths, at) {
			continue
		}
		s.made.paths = append(s.made.paths, at)
		s.made.dumps = append(s.made.dumps, jit.NewDump(f.Path, s.arch, func() (jit.File, error) { return s.host.file(s.pid, f) }))
	}
	if len(s.made.dumps) > before {
		s.readDumps(s.reader())
	}
	if mem != nil && s.made.follow == nil {
		s.made.follow = jit.NewFollower(mem, s.arch, s.opts.Warn)
	}
	if s.made.follow == nil && len(s.made.dumps) == 0 {
		return
	}
	modules := s.modules
	modules.Register(func() (r target.Registered) {
		if s.made.follow != nil {
			r.Objects = s.made.follow.Objects(modules)
		}
		if len(s.made.dumps) > 0 {
			r.At = func(addr uint64) *target.Module { return jit.At(s.made.dumps, addr, s.made.now) }
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
	m := &s.made
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
	for _, d := range s.made.dumps {
		grown, err := read(d)
		if err != nil {
			s.opts.Warn("%v", err)
		}
		more = more || grown
	}
	if more {
		s.forgetRows()
		s.made.pause = namePause * uint64(s.rename())
	}
}

// finish finds out what the process has made at last. Nothing more is to come.
func (s *space) finish() {
	if len(s.made.dumps) > 0 {
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

// unsure is a sample with frames in code that its process may have made: the process writes later
// what was there.
type unsure struct {
	space       *space
	key         uint32 // in the tree
	time, value uint64
	frames      int
}

// maxUnsure bounds how many samples are kept until it is sure what code they are in, and
// maxUnsureFrames their frames; the oldest are named as they are.
const (
	maxUnsure       = 1 << 17
	maxUnsureFrames = 1 << 22
)

// setUnsure replaces the samples that are kept.
func (e *engine) setUnsure(list []unsure) {
	e.unsure, e.unsureFrames = list, 0
	for i := range list {
		e.unsureFrames += list[i].frames
	}
}

// keep keeps a sample, which the tree has counted, until it is sure what code it is in.
func (e *engine) keep(s *space, key uint32, value uint64) {
	for len(e.unsure) > 0 && (len(e.unsure) >= maxUnsure || e.unsureFrames+len(e.stack) > maxUnsureFrames) {
		e.setUnsure(slices.Delete(e.unsure, 0, (len(e.unsure)+1)/2))
	}
	e.unsure = append(e.unsure, unsure{s, key, s.made.now, value, len(e.stack)})
	e.unsureFrames += len(e.stack)
}

// rename moves the samples of a process to the code that they are in by what the jitdumps tell now.
// It returns how many frames these have.
func (s *space) rename() (frames int) {
	sure := uint64(math.MaxUint64)
	for _, d := range s.made.dumps {
		sure = min(sure, d.Last())
	}
	e := s.engine
	rest := e.unsure[:0]
	for _, u := range e.unsure {
		if u.space != s {
			rest = append(rest, u)
			continue
		}
		changed := false
		frames += u.frames
		stack := e.tree.stack(e.room[:0], u.key)
		e.room = stack
		for i, id := range stack {
			p := e.tree.places[id]
			if p.kind != placeUser || p.module != nil && !jit.IsDump(p.module.Path) {
				continue
			}
			if m := jit.At(s.made.dumps, p.addr, u.time); m != nil && m != p.module {
				stack[i], changed = e.tree.place(place{module: m, addr: p.addr, name: p.name}), true
			}
		}
		if changed {
			u.key = e.tree.move(u.key, stack, u.value)
		}
		if u.time > sure {
			rest = append(rest, u)
		}
	}
	clear(e.unsure[len(rest):])
	e.setUnsure(rest)
	return frames
}

// file implements host.
func (h *recorded) file(pid int, f *procmaps.File) (*os.File, error) {
	err := error(os.ErrNotExist)
	for _, at := range h.atPath(f.Path, h.root(pid)) {
		if at.Root == "" && !h.own {
			continue
		}
		var file *os.File
		if file, err = h.openOf(pid, at); err == nil {
			h.files = append(h.files, file)
			return file, nil
		}
	}
	return nil, err
}
