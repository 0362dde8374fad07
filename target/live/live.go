package live

import (
	"io"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// DefaultTimeout is how long [Attach] waits for the threads to stop.
const DefaultTimeout = time.Second

// Options are wishes about an [Attach]. The zero Options serves well.
type Options struct {
	// Timeout bounds the time that stopping all threads may take; 0 means
	// [DefaultTimeout]. Threads that have not stopped by then carry an error.
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
}

// Target is the picture of a process: of each thread at one moment. It is safe for
// concurrent use. It implements [target.Target].
type Target struct {
	PID int
	Exe string // the program's path as the process names it; "" where that cannot be read

	// Consistent says that the moment was the same for all threads.
	Consistent bool
	// Pause is the longest time that any one thread was held by [Attach]: from just
	// before it was asked to stop until it had been let go.
	Pause time.Duration

	arch    *arch.Arch
	threads []*Thread // the main thread first, then by ascending ID
	modules *target.Modules
	maps    []procmaps.Mapping // all of them, for Snapshot
	taken   time.Time
	memory  target.Memory
	files   source
}

// source is what a target reads files and live memory from.
type source interface {
	io.Closer
	warned() []string
	about(name string) ([]byte, error) // reads a file of /proc/PID
}

// Arch returns the process's architecture.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space: the stacks as they were copied, and all
// else as the process has it when it is read. Of a large stack only the inner part is
// copied at first, and more when it is read, as long as the thread is where it was:
// a thread that is blocked is not stopped again for that, any other for a moment. Once
// it has moved on, what is read beyond the copies is of another moment, which
// [target.Mover] tells. Reads of a process that has exited fail with [ErrExited],
// outside the copies.
func (t *Target) Memory() target.Memory { return t.memory }

// Modules returns what was mapped when the picture was taken.
func (t *Target) Modules() *target.Modules { return t.modules }

// Threads returns the threads, each a [*Thread]: the main thread first, the
// others by ascending ID. The error is always nil.
func (t *Target) Threads() ([]target.Thread, error) {
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

// Close releases the files of the target. The process has been running since
// [Attach] returned and is not touched.
func (t *Target) Close() error { return t.files.Close() }

// Thread is one thread of a [Target].
type Thread struct {
	// Err says why the thread could not be stopped; nil for those that were.
	Err error
	// Held is the time that the thread was held; see [Target.Pause].
	Held time.Duration

	id   int
	name string
	regs arch.Registers

	owner *owner // of the stack's copies; nil if there are none
}

// ID returns the kernel's thread ID, as the caller's PID namespace has it.
func (t *Thread) ID() int { return t.id }

// Name returns the thread's name (comm): at most 15 bytes.
func (t *Thread) Name() string { return t.name }

// MovedOn reports whether more of the thread's stack was asked for than had been copied,
// after the thread had run on. It may become true while the stack is walked.
func (t *Thread) MovedOn() bool { return t.owner != nil && t.owner.movedOn.Load() }

// Registers fills in the thread's registers. Of a thread that could not be
// stopped (see Err) they are PC and SP alone, where the kernel tells these, else
// the error is Err.
func (t *Thread) Registers(r *arch.Registers) error {
	if t.regs.Known == (arch.RegSet{}) {
		return t.Err
	}
	*r = t.regs
	return nil
}
