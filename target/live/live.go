package live

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/jobcontrol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/trad"
)

// DefaultTimeout is how long [Attach] waits for the threads to stop.
const DefaultTimeout = time.Second

// Options configure an [Attach]. The zero Options serves well.
type Options struct {
	// Timeout bounds the time that stopping all threads may take, counted from the first request to
	// stop; 0 means [DefaultTimeout]. Threads that have not stopped by then carry an error. Attach
	// waits four times as long for runnable threads, because they may have to wait for a processor.
	// If threads are read one after the other, each has the whole Timeout.
	Timeout time.Duration

	// Threads are the IDs of the threads to stop and read; empty for all threads. Attach fails with
	// [ErrNoThread] if the process lacks one of them.
	Threads []int

	// Skip says of threads, by their IDs, that they are not wanted; nil for none. They are neither
	// stopped nor read, as if they had ended.
	Skip func(tid int) bool

	// Unread says that the threads are listed, and neither stopped nor read: they have no registers
	// before they are retaken ([Target.Retaker]). It is not for Consistent.
	Unread bool

	// Watch, unless it is nil, is what the attach looks at threads with. So an attach after another
	// one finds files open.
	Watch *Watch

	// Consistent stops all threads at one moment, so that their stacks tell which thread waits for
	// which. Without it, each thread is stopped, read and let go by itself, which holds it for a
	// much shorter time.
	Consistent bool

	// MaxCopied bounds the copies of stacks that are kept, bytes; 0 means 512 MiB. Stacks can be
	// walked beyond that, but [Target.Snapshot] lacks the rest, and [Target.Partial] says so. With
	// LowMemory other bounds hold.
	MaxCopied int64

	// LowMemory bounds the target's memory to what walking one stack after the other takes, however
	// deep and however many the stacks are. The target keeps some megabytes of copies of each
	// stack, and makes others again when they are read. Call [Thread.DropCopies] after each walk.
	// [Target.Snapshot] then has little of the stacks.
	LowMemory bool

	// Values says that more is read than stacks, such as floating-point registers and what
	// variables point to: each thread's pointer to its own storage, too, where no register has it.
	// When a thread is read once more for the first time ([Thread.Retake]), what was read too late
	// before is copied together with its stack. So the thread need not be held while all that is
	// read again.
	Values bool
}

// DeferStops puts off stops of this process by job control (SIGTSTP as of Ctrl-Z, SIGTTIN, SIGTTOU)
// while [Attach] or a Retake holds a thread, mostly for milliseconds. That applies to the whole
// program, until restore is called. Without DeferStops, a stop at that moment leaves the held
// threads stopped until this process goes on. SIGSTOP cannot be put off.
func DeferStops() (restore func()) { return jobcontrol.Defer() }

// Target is a process as [Attach] has copied it: each thread's registers and stack are of one
// moment. It is safe for concurrent use. It implements [target.Target].
type Target struct {
	PID int
	Exe string // the program's path as the process names it; "" if that cannot be read

	// Consistent says that all threads were read at the same moment.
	Consistent bool
	// Pause is the longest time that any one thread was held by [Attach], or by
	// [Target.Retake]: from just before it was asked to stop until it had been let go.
	Pause time.Duration

	arch    *arch.Arch
	modules func() *target.Modules
	maps    []procmaps.Mapping // all mappings, for Snapshot
	memory  target.Memory
	files   source

	retaking sync.Mutex
	retakes  int // how often all threads were retaken

	mu      sync.Mutex // guards the fields below
	threads []*Thread  // the main thread first, then by ascending ID
	taken   time.Time
	kept    Kept
}

// source is what a target reads files and live memory from.
type source interface {
	io.Closer
	warned() []string
	leftOutOfMaps() []string
	about(name string) ([]byte, error) // reads a file of /proc/PID
	openNamed(root, path string) (*os.File, error)
	retake(th *Thread, walk func()) error
	retaker() (retake func(*Thread, func()) error, end func())
	retakeAll(t *Target, room int, also func(*Held), walk func()) error // also may be nil
}

// Arch returns the process's architecture.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space: the stacks as they were copied, and all else as it is in the
// process when it is read. Attach copies the inner part of a large stack; more is copied when it is
// read, as long as the thread is still blocked at the same place. Walk each thread in its own
// memory ([Thread.Memory]), because two threads that were read one after the other may have been on
// the same goroutine's stack. After the process has exited, reads outside the copies fail with
// [ErrExited].
func (t *Target) Memory() target.Memory { return t.memory }

// Modules returns what was mapped when the process was copied.
func (t *Target) Modules() *target.Modules { return t.modules() }

// Maps returns the mappings of the process when it was copied, ascending. The caller must not
// change them. warn, which may be nil, is told what is left out of them: see [procmaps.Read].
func (t *Target) Maps(warn func(format string, args ...any)) []procmaps.Mapping {
	if warn != nil {
		for _, text := range t.files.leftOutOfMaps() {
			warn("%s", text)
		}
	}
	return t.maps
}

// Threads returns the threads, each a [*Thread]: the main thread first, the
// others by ascending ID. The error is always nil.
func (t *Target) Threads() ([]target.Thread, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]target.Thread, len(t.threads))
	for i, th := range t.threads {
		list[i] = th
	}
	return list, nil
}

// Warnings returns what the user should know about the answers so far, one sentence each: for
// instance that a library's file is no longer the mapped one. Later calls may return more, because
// files are opened when they are first needed.
func (t *Target) Warnings() []string { return t.files.warned() }

// Partial reports whether more of the stacks was read than [Options.MaxCopied] allows to keep. Then
// a snapshot lacks the outer part of some stacks.
func (t *Target) Partial() bool {
	m, ok := t.memory.(*memory)
	return ok && m.passed.Load()
}

// OpenNamed opens a file that the process names (its source files, the debug files of what it has
// mapped), below its own root folder, or this machine's if root is "": a regular file that the
// process's user may read, by the rights of its first thread when it was attached to. The error is
// for [errors.Is] with [io/fs.ErrPermission] if only this program may. It is an [elfimage.Opener].
func (t *Target) OpenNamed(root, path string) (*os.File, error) { return t.files.openNamed(root, path) }

// Close releases the files of the target. The process has been running since
// [Attach] returned and is not touched.
func (t *Target) Close() error { return t.files.Close() }

// Retake copies the process of a [Target.Consistent] target anew, at one moment. It copies as much
// of the stacks as was missing, and calls walk once. If the first walk lacked more than some
// megabytes of stacks, all threads are held while walk runs, for a bounded time, so that memory
// that walk reads is of that moment. Threads returns new threads, and walk should ask for them. If
// Retake returns an error, it has not called walk, and the target is as it was.
//
// Retake is for stacks that were not whole at the first time ([Thread.MovedOn]). To walk a stack a
// second time takes no longer than the walking itself, because the rows are known.
func (t *Target) Retake(walk func()) error {
	if !t.Consistent {
		return errNotConsistent
	}
	t.retaking.Lock()
	defer t.retaking.Unlock()
	return t.files.retakeAll(t, 0, nil, walk)
}

// Thread is one thread of a [Target]. It implements [target.RunningThread].
type Thread struct {
	// Err says why the thread could not be stopped; nil if it was.
	Err error
	// Held is the longest time that the thread was held; see [Target.Pause].
	Held time.Duration

	id     int
	name   string
	target *Target

	retaking sync.Mutex
	retakes  int // how often the thread was retaken

	mu      sync.Mutex // guards the fields below, and Held
	regs    arch.Registers
	sets    target.RegisterSets // with Options.Values
	blocked uint64              // see SignalMask
	view    *view
}

// ID returns the kernel's thread ID in the caller's PID namespace.
func (t *Thread) ID() int { return t.id }

// Name returns the thread's name (comm): at most 15 bytes.
func (t *Thread) Name() string { return t.name }

// Memory returns the address space in which to walk the thread's stack. The part of the stack that
// was copied while the thread was held is of the moment of its registers. More is copied when it is
// read, and is of that moment, too, if the thread is still blocked at the same place. If it is not,
// MovedOn of [target.RunningMemory] says so.
func (t *Thread) Memory() target.Memory {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.view
}

// MovedOn reports whether Memory was read beyond the copies after the thread had run on. It may
// become true while the stack is walked. [Thread.Retake] helps.
func (t *Thread) MovedOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view.settle()
	return t.view.moved.Load()
}

// Rests reports whether the thread has slept at one place since it was read. turns is how often it
// had got a processor by then: as long as [Watch.Look] says the same, the thread's registers and
// stack are as they were read. ok is false if that is not sure.
func (t *Thread) Rests() (turns uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.view.rests()
}

// DropCopies frees copies that were made for the thread. Call it when its stack is not walked any
// more. With [Options.LowMemory] it frees all copies, else those beyond [Options.MaxCopied]; of a
// [Target.Consistent] target it frees none. A later walk may find that the thread has moved on.
func (t *Thread) DropCopies() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.target.Consistent:
	case t.view.memory.lowMemory:
		t.view.drop()
	default:
		t.view.dropPassed()
	}
}

// Retake stops the thread once more, reads its registers and as much of its stack as was missing,
// and calls walk once. If the walk needs more than the thread's own stack, the thread is held while
// walk runs, for some milliseconds at most, and longer the more often it was retaken. Registers and
// Memory are then of the new moment; a Memory that was returned before stays of the earlier one. If
// Retake returns an error, it has not called walk, and the thread is as it was.
//
// The threads of a [Target.Consistent] target cannot be retaken one by one: see [Target.Retake].
func (t *Thread) Retake(walk func()) error {
	if t.target.Consistent {
		return errConsistent
	}
	t.retaking.Lock()
	defer t.retaking.Unlock()
	return t.target.files.retake(t, walk)
}

// Retaker retakes threads of a target one after the other. Many take less time together than each
// by itself: one thread of this program traces them all. It is not safe for concurrent use.
type Retaker struct {
	retake func(*Thread, func()) error
	end    func()
}

// Retaker returns a Retaker, which the caller closes.
func (t *Target) Retaker() *Retaker {
	retake, end := t.files.retaker()
	return &Retaker{retake, end}
}

// Retake is [Thread.Retake].
func (r *Retaker) Retake(t *Thread, walk func()) error {
	if t.target.Consistent {
		return errConsistent
	}
	t.retaking.Lock()
	defer t.retaking.Unlock()
	return r.retake(t, walk)
}

// Close ends the thread that traces.
func (r *Retaker) Close() { r.end() }

// Registers fills in the thread's registers. If the thread could not be stopped (see Err),
// Registers fills in PC and SP alone if the kernel tells them, and else returns Err.
func (t *Thread) Registers(r *arch.Registers) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.regs.Known == (arch.RegSet{}) {
		return t.Err
	}
	*r = t.regs
	return nil
}

// SignalMask implements [target.MaskedThread].
func (t *Thread) SignalMask() (blocked, unknown uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.blocked == 0 { // it blocks none, or could not be stopped
		return 0, ^uint64(0)
	}
	return t.blocked, 0
}

// ReadRegister implements [target.WideThread]. Wide registers are read with [Options.Values] alone.
func (t *Thread) ReadRegister(r trad.Reg, offset int, b []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sets.ReadRegister(t.target.arch, r, offset, b)
}
