package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/jobcontrol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// hookStopped is called while all threads are stopped, or, if they are read in turn, while one is.
// Tests set it.
var hookStopped = func() {}

// Attach copies what unwinding needs of the process pid. It stops the threads, reads them, and lets
// them go before it returns. A process that was stopped (SIGSTOP, job control) stays stopped. If
// Attach fails, the process runs on, too. The error wraps one of the errors of this package, or, if
// ctx ended early, ctx's.
//
// A program that attaches to its own child must not wait for the child meanwhile (also not by
// [os/exec.Cmd.Wait]): the kernel tells a waiting parent that the child stopped, in the same way as
// it tells of the child's end.
func Attach(ctx context.Context, pid int, opts Options) (*Target, error) {
	if hostArch == nil {
		return nil, errNoHost
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("attach %d: %w", pid, context.Cause(ctx))
	}
	p, err := check(pid)
	if err != nil {
		return nil, err
	}
	for _, tid := range opts.Threads {
		if _, err := p.status(taskFile(tid, "")); err != nil {
			p.dir.Close()
			return nil, refuse(ErrNoThread, pid, "thread %d: %v", tid, ErrNoThread)
		}
	}
	p.only, p.skip = opts.Threads, opts.Skip
	if opts.Watch != nil {
		p.watch, p.ownWatch = opts.Watch, false
	}
	timeout := opts.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	for again := 0; ; again++ {
		s := newAttachment(p, &files{proc: p, values: opts.Values}, opts.LowMemory, opts.MaxCopied)
		s.unread = opts.Unread
		// A process that calls execve(2) all the time can only be read while all of it is held.
		err = s.attach(ctx, timeout, opts.Consistent || again == maxReplaced)
		if err == nil {
			return s.target()
		}
		s.files.closeOpened()
		if !errors.Is(err, errReplaced) {
			break
		}
	}
	p.dir.Close()
	var r *refusal
	switch {
	case errors.Is(err, ErrExited):
		err = refuse(ErrExited, pid, "the process has ended while it was attached to")
	case !errors.As(err, &r) && ctx.Err() == nil:
		err = fmt.Errorf("attach %d: %w", pid, err)
	}
	return nil, err
}

// maxReplaced is how often an attach begins anew because the process has called
// execve(2) meanwhile.
const maxReplaced = 3

// attach copies the threads: all at one moment, or one after the other.
func (s *attachment) attach(ctx context.Context, timeout time.Duration, consistent bool) (err error) {
	if s.tracesNone() && !consistent {
		return s.inTurn(ctx)
	}
	t := &s.tracer
	all := true
	jobcontrol.Hold()
	defer jobcontrol.Release()
	onOwnThread(func() {
		defer func() { all = t.detachAll() }()
		t.timeout = timeout
		if !consistent {
			err = s.inTurn(ctx)
			return
		}
		s.consistent = true
		t.prepare = func(threads int) { s.files.prepare(min(threads*usualStack, 8<<20)) }
		if err = t.stopAll(ctx); err == nil {
			err = s.take()
		}
	})
	if !all {
		awaitThreadEnd(t.self)
	}
	return err
}

// awaitThreadEnd waits until a thread of our own has ended. By then the kernel has let go all
// threads that it traced.
func awaitThreadEnd(tid int) {
	for range 1000 {
		if unix.Tgkill(unix.Getpid(), tid, 0) != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// attachment is a Target while the process is copied.
type attachment struct {
	tracer     tracer
	files      *files
	maps       []procmaps.Mapping
	moment     time.Time
	consistent bool // all threads are of one moment
	unread     bool // Options.Unread

	copies    []block
	left      uint64         // how much more may be copied, bytes
	deep      map[int]uint64 // how many bytes of some threads' stacks to copy, by thread ID, if more than stackCopy
	lowMemory bool           // Options.LowMemory
	limit     int64          // how many bytes of all stacks together to copy and keep at most
	lifted    []block        // copies of one thread, in files.copyRoom
	stuck     []*tracee      // threads that were read in turn and not let go

	masked  bool
	pacMask uint64 // mask of a code address; 0 if there is none
}

func newAttachment(p *proc, f *files, lowMemory bool, limit int64) *attachment {
	if limit <= 0 {
		limit = copyLimit
	}
	s := &attachment{tracer: tracer{proc: p}, files: f, lowMemory: lowMemory, limit: limit, left: uint64(limit)}
	if lowMemory {
		s.left = lowMemoryFirst
	}
	return s
}

// rest returns how many more bytes may be copied after attach has returned.
func (s *attachment) rest() int64 {
	if s.lowMemory {
		return int64(s.left) + lowMemoryLimit - lowMemoryFirst
	}
	return int64(s.left) + passLimit
}

// take reads all that must be of one moment, while all threads are stopped.
func (s *attachment) take() error {
	hookStopped()
	s.moment = time.Now()
	leader, err := s.readAll()
	if err != nil {
		return err
	}
	if err := s.files.openAll(leader); err != nil {
		return err
	}
	if err := s.readMaps(leader); err != nil {
		return err
	}
	s.copyStacks(leader)
	s.copyLocks(leader)
	return nil
}

// readAll reads the registers of all threads, which are stopped. leader is a thread through which
// to read the address space, because the main thread may have ended.
func (s *attachment) readAll() (leader int, err error) {
	room := s.files.registerRoom
	for _, x := range s.tracer.tracees {
		switch x.state {
		case stopped:
			x.readRegisters(s.files, room)
			if !s.masked && x.state == stopped { // all threads have one mask
				s.masked, s.pacMask = true, readPACMask(x.tid, room)
			}
		case failed:
			s.blockedRegisters(x)
		}
		if leader == 0 && (x.state == stopped || x.state == failed) {
			leader = x.tid
		}
	}
	if leader == 0 {
		return 0, ErrExited
	}
	return leader, nil
}

// readMaps reads the mappings through the first of the given threads that still exists.
func (s *attachment) readMaps(tids ...int) error {
	err := error(ErrExited)
	for _, tid := range tids {
		if s.maps, err = s.files.mapsOf(tid); err == nil && len(s.maps) > 0 {
			return nil
		}
		if err == nil || ended(err) {
			err = ErrExited // a thread that has ended has no mappings
			continue
		}
		break
	}
	return err
}

// maxReadings is how often a list of mappings is read. The kernel hands it out piece by piece, and
// the pieces may overlap if the process changes its mappings meanwhile.
const maxReadings = 20

// maxReading is how long a list is read again and again.
const maxReading = time.Second

// mapsOf reads the mappings through the thread tid.
func (f *files) mapsOf(tid int) (maps []procmaps.Mapping, err error) {
	read := procmaps.Read
	if !f.proc.ownWatch {
		last := f.proc.watch.takeMaps(f.proc.pid)
		defer func() { f.proc.watch.keepMaps(f.proc.pid, last) }()
		read = last.Read
	}
	for begin, n := time.Now(), 0; n < maxReadings && (n == 0 || time.Since(begin) < maxReading); n++ {
		file, err1 := f.proc.openat(taskFile(tid, "maps"), unix.O_RDONLY)
		if err1 != nil {
			return nil, err1
		}
		maps, err = read(file, f.warnMaps)
		file.Close()
		if err == nil || ended(err) {
			return maps, err
		}
	}
	return nil, err
}

// readRegisters reads the registers of a stopped thread.
func (x *tracee) readRegisters(f *files, room []byte) {
	a := f.proc.arch
	err := readRegisters(a, x.tid, &x.regs, room, f.values)
	pc, sp := x.regs.Value[a.PC], x.regs.Value[a.SP]
	switch {
	case errors.Is(err, unix.ESRCH):
		x.state = gone // killed
	case errors.Is(err, errOtherClass):
		x.err = otherClass(a, x.tid)
	case err != nil:
		x.err = fmt.Errorf("thread %d: read registers: %w", x.tid, err)
	case pc == 0 && sp == 0:
		x.err = ofKernel(x.tid)
		x.regs = arch.Registers{}
	}
	if x.err != nil || x.state == gone {
		return
	}
	x.blocked, _ = signalMask(x.tid) // 0, as if it blocked none, where kernels do not tell (before Linux 3.11)
	if f.values {
		x.sets = readWideSets(a, x.tid, f.setRoom, f.lastSets)
		f.lastSets = x.sets
	}
}

// ofKernel says that a thread is one that the kernel runs for the process.
func ofKernel(tid int) error {
	return &refusal{ErrNoUserContext, fmt.Sprintf("thread %d is a worker of the kernel's (io_uring, vhost): it has no user stack", tid)}
}

// blockedRegisters reads PC and SP of a thread that could not be stopped. For a blocked thread, the
// kernel tells them (proc_pid_syscall(5)).
func (s *attachment) blockedRegisters(x *tracee) {
	if _, sp, pc, ok := s.tracer.proc.blocked(x.tid); ok {
		x.regs.Set(s.tracer.proc.arch.SP, sp)
		x.regs.Set(s.tracer.proc.arch.PC, pc)
	}
}

// copyStacks copies the inner part of every thread's stack, the stacks that handlers on alternate
// stacks have interrupted, and the vDSO, which has no file.
func (s *attachment) copyStacks(leader int) {
	a := s.tracer.proc.arch
	var stacks []uint64 // their stack pointers
	most := map[uint64]uint64{}
	for _, x := range s.tracer.tracees {
		if sp, ok := x.regs.Get(a.SP); ok && x.state != gone {
			stacks = append(stacks, sp)
			most[sp] = s.deep[x.tid]
		}
	}
	for range maxSwitches {
		var want []span
		for _, sp := range stacks {
			if w, ok := stackSpan(s.maps, sp, uint64(a.RedZone), max(stackCopy, most[sp])); ok {
				want = append(want, w)
			}
		}
		s.copy(leader, want)

		outer := stacks[:0]
		for _, sp := range stacks {
			i := findBlock(s.copies, sp)
			if i == len(s.copies) || s.copies[i].lo > sp {
				continue
			}
			if v, ok := interruptedSP(a, s.maps, sp, s.copies[i].data[sp-s.copies[i].lo:]); ok {
				outer = append(outer, v)
			}
		}
		if stacks = outer; len(stacks) == 0 {
			return
		}
	}
}

// copy copies ranges of memory in addition to the stacks.
func (s *attachment) copy(leader int, want []span) {
	parts := missing(s.copies, want)
	fit(parts, s.left)
	blocks, n := s.files.copyMemory(leader, parts)
	s.copies = disjoint(append(s.copies, blocks...))
	s.left -= n
}

// target makes the result, after the process has been let go.
func (s *attachment) target() (*Target, error) {
	a := s.tracer.proc.arch
	m := &memory{arch: a, live: &pageCache{pid: s.tracer.proc.pid, fetch: s.files.fetch, whole: !s.lowMemory}, maps: s.maps, there: s.files.there, same: s.files.same, turns: s.files.proc.turns}
	m.left.Store(s.rest())
	m.lowMemory, m.limit = s.lowMemory, s.limit
	for i := range s.maps {
		if v := &s.maps[i]; v.IsVDSO() { // the vDSO has no file, and its copy must outlive the process
			data := make([]byte, v.Hi-v.Lo)
			n, _ := s.files.fetch(v.Lo, data)
			m.add(block{lo: v.Lo, data: data[:n]})
		}
	}
	t := &Target{
		PID: s.tracer.proc.pid, Exe: s.files.exePath, Consistent: s.consistent,
		arch: a.WithPACMask(s.pacMask), memory: m, files: s.files, maps: s.maps, taken: s.moment,
	}
	t.threads = s.threads(t, m)
	m.show(views(t.threads), nil)
	for _, x := range s.tracer.tracees {
		t.Pause = max(t.Pause, x.held)
	}
	s.files.memory = m
	t.modules = sync.OnceValue(func() *target.Modules {
		modules := s.files.modules(s.maps)
		modules.Memory = m.live
		if s.files.root != nil {
			modules.NamedFile = s.files.itsFile
		}
		modules.ProbeCode = (&newCode{files: s.files, known: s.maps, left: maxNewCode}).has
		return modules
	})
	if !s.unread { // nobody may ask then
		t.modules()
	}
	return t, nil
}

// threads makes the target's threads.
func (s *attachment) threads(t *Target, m *memory) (list []*Thread) {
	for _, x := range s.tracer.tracees {
		if x.state == gone {
			continue
		}
		th := &Thread{Err: x.err, Held: x.held, id: x.tid, name: x.name, regs: x.regs, sets: x.sets, blocked: x.blocked, target: t}
		th.view = newView(m, x, s.copies)
		list = append(list, th)
	}
	slices.SortFunc(list, func(a, b *Thread) int {
		if a.id == t.PID || b.id == t.PID {
			return btoi(b.id == t.PID) - btoi(a.id == t.PID)
		}
		return a.id - b.id
	})
	return list
}

func views(threads []*Thread) (list []*view) {
	for _, th := range threads {
		list = append(list, th.view)
	}
	return list
}

// newView makes the view of a thread that was read. shared has the copies of all threads if these
// are of one moment. If shared is empty, the view gets the thread's own copies.
func newView(m *memory, x *tracee, shared []block) *view {
	v := &view{memory: m, tid: x.tid, sp: x.regs.Value[m.arch.SP], pc: x.regs.Value[m.arch.PC]}
	if len(shared) > 0 {
		v.list.Store(&shared)
	} else {
		for i, b := range x.copied {
			// If threads are read in turn, the mappings were not known yet when stacks were looked
			// for.
			if i == 0 || mayBeStack(m.maps, b.lo) {
				v.size += int64(len(b.data))
				v.add(b)
			}
		}
	}
	first := new(block)
	if b := v.holder(v.sp); b != nil {
		lo := max(b.lo, v.sp-min(v.sp, uint64(m.arch.RedZone)))
		first.lo, first.data = lo, b.data[lo-b.lo:min(lo-b.lo+firstCopy, uint64(len(b.data)))]
	}
	v.first.Store(first)
	return v
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// warnMaps adds a warning about the list of mappings, once.
func (f *files) warnMaps(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.ContainsFunc(f.warnings, func(w warning) bool { return w.text == text }) {
		f.warn(nil, "%s", text)
		f.leftOut = append(f.leftOut, text)
	}
}
