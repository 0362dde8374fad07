package live

import (
	"io"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/jobcontrol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// DefaultTimeout is how long [Attach] waits for the threads to stop.
const DefaultTimeout = time.Second

// Options are wishes about an [Attach]. The zero Options serves well.
type Options struct {
	// Timeout bounds the time that stopping all threads may take, from when the first of them
	// is asked to stop; 0 means [DefaultTimeout]. Threads that have not stopped by then carry
	// an error. Those that could run are waited for four times as long: they wait for a processor.
	//
	// Where threads are read one after the other, it is that of each.
	Timeout time.Duration

	// Threads are the IDs of the only threads to stop and read; empty for all of them.
	// [ErrNoThread] says that the process has not got one of them.
	Threads []int

	// Consistent has all threads stopped at one moment, for a picture that is whole:
	// who waits for whom. Without it each thread is stopped, read and let go by itself,
	// which holds it for much less.
	Consistent bool

	// MaxCopied bounds how much of the stacks is copied and kept, bytes; 0 means 512 MiB. What
	// lies further out can be walked, but [Target.Snapshot] has not got it
	// ([Target.Partial]). LowMemory has bounds of its own.
	MaxCopied int64

	// LowMemory has the target keep no more memory than walking one stack after the other
	// takes, however deep stacks are and however many: of the copies of stacks not many
	// megabytes each are kept, others are made again where they are needed, and
	// [Thread.DropCopies] gives them back. [Target.Snapshot] has little then.
	LowMemory bool
}

// DeferStops has a stop of this process by job control (SIGTSTP as of Ctrl-Z, SIGTTIN, SIGTTOU) wait
// for as long as [Attach], or what is read once more, holds a thread; milliseconds, mostly. It is
// for the whole program, until restore is called. Without it, who stops this process in
// that moment has those threads stand still until it goes on. SIGSTOP cannot be put off.
func DeferStops() (restore func()) { return jobcontrol.Defer() }

// Target is the picture of a process: of each thread at one moment. It is safe for
// concurrent use. It implements [target.Target].
type Target struct {
	PID int
	Exe string // the program's path as the process names it; "" where that cannot be read

	// Consistent says that the moment was the same for all threads.
	Consistent bool
	// Pause is the longest time that any one thread was held by [Attach], or by
	// [Target.Retake]: from just before it was asked to stop until it had been let go.
	Pause time.Duration

	arch    *arch.Arch
	modules *target.Modules
	maps    []procmaps.Mapping // all of them, for Snapshot
	memory  target.Memory
	files   source

	retaking sync.Mutex
	retakes  int // how often all threads were

	mu      sync.Mutex // over what follows
	threads []*Thread  // the main thread first, then by ascending ID
	taken   time.Time
}

// source is what a target reads files and live memory from.
type source interface {
	io.Closer
	warned() []string
	about(name string) ([]byte, error) // reads a file of /proc/PID
	retake(th *Thread, walk func()) error
	retakeAll(t *Target, walk func()) error
}

// Arch returns the process's architecture.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space: the stacks as they were copied, and all
// else as the process has it when it is read. Of a large stack only the inner part is
// copied at first, and more when it is read, as long as the thread is blocked where it
// was. Threads are to be walked in memory of their own ([Thread.Memory]), for two that
// were read one after the other may have been on one stack, a goroutine's. Reads of a
// process that has exited fail with [ErrExited], outside the copies.
func (t *Target) Memory() target.Memory { return t.memory }

// Modules returns what was mapped when the picture was taken.
func (t *Target) Modules() *target.Modules { return t.modules }

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

// Warnings returns what the user should know about the answers so far, such as
// a library whose file is no longer what is mapped: one sentence each. Files
// are opened when first needed, so more may come later.
func (t *Target) Warnings() []string { return t.files.warned() }

// Partial reports whether more of the stacks was read than [Options.MaxCopied] lets be kept: a
// snapshot has not got the outer part of some.
func (t *Target) Partial() bool {
	m, ok := t.memory.(*memory)
	return ok && m.passed.Load()
}

// Close releases the files of the target. The process has been running since
// [Attach] returned and is not touched.
func (t *Target) Close() error { return t.files.Close() }

// Retake takes the picture of a [Target.Consistent] one anew, at one moment, with as much of
// the threads' stacks as was missing, and calls walk, once. Where walking lacked more than
// stacks of some megabytes, all threads are held while walk runs, for as long as that may be:
// what walk reads of their Memory is of that moment. Threads returns others then, which walk
// should ask for. After an error walk was not called, and the picture is as it was.
//
// It is for stacks that were not whole at the first time ([Thread.MovedOn]): of each that
// was walked before, walk takes as long as walking takes, and no more.
func (t *Target) Retake(walk func()) error {
	if !t.Consistent {
		return errNotConsistent
	}
	t.retaking.Lock()
	defer t.retaking.Unlock()
	return t.files.retakeAll(t, walk)
}

// Thread is one thread of a [Target]. It implements [target.RunningThread].
type Thread struct {
	// Err says why the thread could not be stopped; nil for those that were.
	Err error
	// Held is the longest time that the thread was held; see [Target.Pause].
	Held time.Duration

	id     int
	name   string
	target *Target

	retaking sync.Mutex
	retakes  int // how often it was

	mu   sync.Mutex // over what follows, and Held
	regs arch.Registers
	view *view
}

// ID returns the kernel's thread ID, as the caller's PID namespace has it.
func (t *Thread) ID() int { return t.id }

// Name returns the thread's name (comm): at most 15 bytes.
func (t *Thread) Name() string { return t.name }

// Memory returns the address space as the thread's stack is to be walked in. What was
// copied of the stack while the thread was held is of the moment of its registers. More is
// copied when it is read: it is of that moment as well, if the thread is blocked where it
// was; else [target.RunningMemory] tells that it is not.
func (t *Thread) Memory() target.Memory {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.view
}

// MovedOn reports whether more was read of Memory than had been copied, after the thread
// had run on. It may become true while the stack is walked; [Thread.Retake] helps.
func (t *Thread) MovedOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.view.moved.Load()
}

// DropCopies gives back the room of what was copied for the thread, of a [Options.LowMemory]
// target, and of any other what is not kept: its stack is not walked any more. Whoever does so all the same may find that it
// has moved on.
func (t *Thread) DropCopies() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.target.Consistent:
	case t.view.memory.spare:
		t.view.letGo()
	default:
		t.view.letGoPassed()
	}
}

// Retake stops the thread once more, reads its registers, and as much of its stack as was
// missing, and calls walk, once. Where that needs more than the thread's own stack, the
// thread is held while walk runs, up to some milliseconds, and longer the more often it
// was retaken. Registers and Memory are others then; what the Memory had before is of
// the moment before. After an error walk was not called, and the thread is as it was.
//
// The threads of a [Target.Consistent] picture cannot be retaken one by one: see
// [Target.Retake].
func (t *Thread) Retake(walk func()) error {
	if t.target.Consistent {
		return errConsistent
	}
	t.retaking.Lock()
	defer t.retaking.Unlock()
	return t.target.files.retake(t, walk)
}

// Registers fills in the thread's registers. Of a thread that could not be
// stopped (see Err) they are PC and SP alone, where the kernel tells these, else
// the error is Err.
func (t *Thread) Registers(r *arch.Registers) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.regs.Known == (arch.RegSet{}) {
		return t.Err
	}
	*r = t.regs
	return nil
}
