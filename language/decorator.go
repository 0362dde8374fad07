package language

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator knows one language.
type Decorator interface {
	// Name returns the language's name: "python", "java".
	Name() string
	// Find returns the run times of the language in a module of the process, none if the module is
	// no such run time: most are none, so it must be cheap to say. The error says why a run time
	// that is there cannot be read: its release is not known, its tables are broken.
	Find(p *Process, m *target.Module) ([]Runtime, error)
}

// Chooser is a [Decorator] that knows by a module's path whether it may have a run time. It is
// asked about modules of any size; other decorators are asked about large ones alone.
type Chooser interface {
	Decorator
	Wants(m *target.Module) bool
}

// TasksAlone is a [Decorator] whose run times are [Tasker]s and have no frames on stacks: those are
// in the code's own debug information. It is asked about modules of any size, when tasks are wanted
// and not else.
type TasksAlone interface {
	Decorator
	TasksAlone()
}

// OnStack is a [Decorator] whose frames are on the stack itself. What else it reads are names,
// lines and tables, which stay for as long as the code does. So it can say what a copy of a stack
// is when the thread has run on ([Stack.Later]).
type OnStack interface {
	Decorator
	FramesOnStack()
}

// Process is what decorators know of a process before its threads are walked.
type Process struct {
	Arch    *arch.Arch
	Memory  target.Memory // for what does not change while the process runs, such as tables and code
	Modules *target.Modules
	// Symbols reads the debug information of the modules. It is nil where there is none to ask, and
	// may be slow when it is called first: files may be fetched.
	Symbols func() *symbol.Symbolizer
	// Threads lists the threads. It is nil where nobody knows them.
	Threads func() ([]target.Thread, error)
	// Writable lists the memory that the process can change, ascending, but for files that it
	// shares with others. It is nil where nobody knows that.
	Writable func() []target.Mapping
	// Walk returns the physical frames of a thread, the innermost first. The thread may be of the
	// caller's own making, with registers that the process has put aside. It is nil where nobody
	// walks.
	Walk func(target.Thread) ([]*frame.Frame, error)
}

// Runtime is one run time of a language in a process: an interpreter, a virtual machine. Several
// goroutines may call its methods at the same time.
type Runtime interface {
	// Decorate says what the stack of a thread is in the language. It returns nil if the thread has
	// nothing of the language. An error costs the language's frames of this stack; what was found
	// before it may be returned with it.
	Decorate(s *Stack) (*Decoration, error)
}

// Stack is what a decorator is given of a thread.
type Stack struct {
	Arch   *arch.Arch
	Thread target.Thread
	// Memory is of the moment of the registers as far as the process allows it: what is on the heap
	// is read here, too.
	Memory target.Memory
	// Frames are the physical frames, the innermost first. Their registers can be asked for
	// ([frame.Frame.Register]): interpreters keep their innermost state there.
	Frames []*frame.Frame
	// Whole reports whether the last of Frames is the outermost frame of the thread.
	Whole bool
	// FramesAlone says that Decoration.Thread is not wanted: a profiler asks again and again.
	FramesAlone bool
	// Later says that the thread has run on: the stack is a copy, and the rest of Memory is as the
	// process has it now. Code may be unloaded meanwhile, and be other code: a frame of which that
	// cannot be ruled out is left out, and Decoration.Early says so. [OnStack] decorators alone are
	// asked.
	Later bool
	// Moment is equal for stacks with Later whose rest of Memory may be taken for the same: it was
	// read for one of them, and that was later than all of them. 0 says that it is this stack's
	// alone.
	Moment uint64
	// Locals says that arguments and local variables are wanted, too.
	Locals bool
}

// Decoration is what a stack is in a language.
type Decoration struct {
	// Groups are frames in the order of the stack, the innermost first.
	Groups []Group `json:"groups,omitempty"`
	// Own are the levels of physical frames that are the run time's own, such as its evaluator.
	// They are hidden, unless the user asks for all frames. A frame that a group replaces need not
	// be among them.
	Own []int `json:"own,omitempty"`
	// Names has other names for physical frames, by level: "Interpreter", "call_stub".
	Names map[int]string `json:"names,omitempty"`
	// Thread is what the language knows of the thread.
	Thread Thread `json:"thread,omitzero"`
	// Early says why the frames of the language end before they should; "" if they do not.
	Early string `json:"early,omitempty"`
}

// Group is a run of frames with one anchor.
type Group struct {
	Anchor Anchor  `json:"anchor,omitzero"`
	Frames []Frame `json:"frames,omitempty"` // the innermost first; at least one
}

// Anchor says where a group belongs. It is one of two kinds, which [Decorate] checks.
type Anchor struct {
	// Address is an address on the stack, as of an interpreter's record there: the group belongs to
	// the physical frame whose [SP, CFA) has it. 0 for the other kind.
	Address uint64 `json:"address,omitempty"`
	// Level, PC and CFA are a physical frame's.
	Level int    `json:"level,omitempty"`
	PC    uint64 `json:"pc,omitempty"`
	CFA   uint64 `json:"cfa,omitempty"`
	// Beside leaves the physical frame in its place: the group stands outside of it. Else the group
	// replaces the frame, which is hidden as the run time's own are.
	Beside bool `json:"beside,omitempty"`
}

// Frame is one frame of a language.
type Frame struct {
	// Function is written as the language's own traces have it, with its class: "Server.handle".
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"` // of the source; "" if that is not known
	Line     int    `json:"line,omitempty"` // from 1 on; 0 if that is not known
	// Column is from 1 on, and counts as the language's own traces do; 0 if it is not known, or
	// they have none.
	Column int `json:"column,omitempty"`
	// Kind says how the frame runs where that is of use: "interpreted", "compiled", "inlined",
	// "native", "generator"; "" for the usual way.
	Kind string `json:"kind,omitempty"`
	// Place is the address of the record, or of the code, by which the frame was found; 0 if there
	// is none. It is shown by --explain.
	Place uint64 `json:"place,omitempty"`
	// Guess says that the frame, or its line, need not be right: it was noted for another place in
	// the code.
	Guess bool `json:"guess,omitempty"`
	// MovedOn says that the frame was read at another moment than the stack.
	MovedOn bool `json:"moved_on,omitempty"`
	// Args is nil if none were asked for, or the language does not know them.
	Args   []Variable `json:"args,omitempty"`
	Locals []Variable `json:"locals,omitempty"`
}

// Variable is an argument or a local variable.
type Variable struct {
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"`
	Value string `json:"value,omitempty"` // as the language writes it, bounded
}

// Thread is what a language knows of a thread, beside its stack.
type Thread struct {
	Name string `json:"name,omitempty"` // the language's name for it; "" if there is none
	// State is what it does in the language's words: "has the GIL", "daemon, RUNNABLE".
	State string `json:"state,omitempty"`
	// Waits and Holds are what the thread waits for and holds.
	Waits []Lock `json:"waits,omitempty"`
	Holds []Lock `json:"holds,omitempty"`
	// Exception is what is being handled, or was raised last: "ValueError: no such key".
	Exception string `json:"exception,omitempty"`
}

// Lock is something of the language for which threads wait.
type Lock struct {
	Kind    string `json:"kind,omitempty"`    // "GIL", "lock", "monitor", "ReentrantLock"
	Name    string `json:"name,omitempty"`    // the object: "<com.example.Queue>"; "" if that is not known
	Address uint64 `json:"address,omitempty"` // of the object, or of its lock; 0 if that is not known
	// Owner is the ID of the thread that holds it; 0 if none does, or that is not known.
	Owner int `json:"owner,omitempty"`
	// Level is of the innermost frame of the language that has it, from 0 on; -1 if that is not
	// known.
	Level int  `json:"level"`
	Timed bool `json:"timed,omitempty"` // who waits for it gives up when a time is over
	Ends  bool `json:"ends,omitempty"`  // it is the end of the thread that is its owner
}
