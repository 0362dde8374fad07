package inferior

import (
	"context"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Process is an inferior: a process, or some of its threads, under control. All the threads that it
// lists stand still, but for the time between Resume and the event that Wait returns. Its
// Memory is a [target.WritableMemory].
//
// Close lets the process go as it was found: breakpoints are removed, states that were saved are
// restored (the first one of each thread), signals that were not delivered are, and it runs on if
// it ran before. The same happens if this program ends, however it ends.
//
// A Process serves one goroutine at a time.
type Process interface {
	target.Target
	// Inferiors returns the threads that stand still, the one of the last event first. A thread
	// that the process has made since is among them.
	Inferiors() []Thread
	// SetBreakpoint puts a breakpoint at an instruction. ClearBreakpoint takes it away. Memory
	// reads as if there were none. A thread that stands at the address does not stop there when it
	// is resumed if an event has told that it stands there, if its PC was written, or if the
	// breakpoint was set since it ran. A thread that was stopped on its way to the instruction, by
	// another thread's event or by a signal, does stop there. Several breakpoints at one address
	// count as one that was set several times.
	SetBreakpoint(addr uint64) error
	ClearBreakpoint(addr uint64) error
	// EntryPoint returns the address of the instruction with which the program has begun
	// (AT_ENTRY). It is code that no thread comes to any more: calls return to it.
	EntryPoint() (uint64, error)
	// Resume lets threads run. Registers, memory and stacks that were read before are of another
	// moment then.
	Resume(Resume) error
	// Wait waits until something happens to a resumed thread, stops all threads, and returns what
	// it was. Events of several threads at once are returned one after the other; Resume between
	// them lets none run before the last one was returned. If ctx ends before, Wait stops the
	// threads and returns an event of kind Interrupted.
	Wait(ctx context.Context) (Event, error)
}

// Thread is a thread that stands still.
type Thread interface {
	target.WritableThread
	// Save keeps the thread's state: all its registers, the signals that it blocks, and the system
	// call that was interrupted to stop it. States are kept on a stack: Restore puts the thread
	// into the state of the last Save, and drops that. A system call that was interrupted goes on
	// when the thread is resumed then.
	Save() error
	Restore() error
	// Drop forgets the state of the last Save, and leaves the thread as it is.
	Drop() error
	// Jump sets the PC as a debugger does: a system call that was interrupted is not begun
	// again.
	Jump(pc uint64) error
	// CanCall reports why the thread cannot be made to call a function: it has a shadow
	// stack, it is about to end. nil means that it can.
	CanCall() error
}

// Returner is a Thread that can be put back so that what a function has done to the signals that
// the thread blocks stays.
type Returner interface {
	Thread
	// Call Returned instead of Restore after a function that the thread was made to call has
	// returned. The thread then still blocks the signals that it blocks now.
	Returned() error
}

// Beginner is a Thread that takes the registers of a function's beginning in one go, which takes
// less time.
type Beginner interface {
	Thread
	// Begin writes registers as WriteRegister does, and then sets the PC as Jump does.
	Begin(registers []abi.Register, pc uint64) error
}

// X87Marker is a Thread that can find out how its registers of the x87 are numbered.
type X87Marker interface {
	Thread
	// Call MarkX87 before the thread runs a function that returns a number in a register of the
	// x87. After the function has returned, ReadRegister finds the number. The thread's state was
	// saved before.
	MarkX87() error
}

// Resume says which threads run, and how.
type Resume struct {
	Thread Thread // that is resumed in any case; it is nil if all are resumed alike
	// Alone lets Thread run alone: all others stand still.
	Alone bool
	// Step has Thread execute one instruction. The others run, if not Alone.
	Step bool
	// Signal is delivered to Thread, as Linux numbers signals; 0 for none.
	Signal int
}

// EventKind says what has happened.
type EventKind uint8

const (
	// Interrupted is the end of Wait's context: nothing has happened.
	Interrupted EventKind = iota
	// Breakpoint: Thread has come to a breakpoint, and its PC is that.
	Breakpoint
	// Stepped: Thread has executed one instruction.
	Stepped
	// Signalled: a signal has come for Thread. It was not delivered. If Resume names Thread, its
	// Signal is delivered instead. Else the signal is delivered when the thread runs again.
	Signalled
	// ThreadExited: the thread that Resume has named has ended. When other threads end, that is no
	// event.
	ThreadExited
	// Exited: the process has ended by exit(2); Status is its status.
	Exited
	// Killed: the process was ended by the signal Signal.
	Killed
	// Execed: the process runs another program. It has one thread, and no breakpoints.
	Execed
)

// Event is something that has happened to a thread.
type Event struct {
	Kind   EventKind
	Thread Thread // nil if it is no more
	TID    int    // the thread's ID
	Status int    // of Exited
	Signal Signal // of Signalled and Killed
}

// Signal is a signal as it came.
type Signal struct {
	Number int // as Linux numbers signals
	Code   int // si_code; 0 if it is not known
	// Address is the address of a fault (si_addr), if HasAddress.
	Address    uint64
	HasAddress bool
	// Sender is the ID of the process that has sent it, 0 if the kernel has or it is not known. Own
	// says that it is the process itself.
	Sender int
	Own    bool
}

// RegisterBytes reads size bytes of a register, from the first on, as it would lie in memory.
func RegisterBytes(t target.WideThread, r trad.Reg, size int) ([]byte, error) {
	b := make([]byte, size)
	return b, t.ReadRegister(r, 0, b)
}
