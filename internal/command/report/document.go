package report

import (
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/values"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/symbol"
)

// Document is what a command prints, as text or as JSON; docs/json.md describes
// it. Fields are added, never renamed.
type Document struct {
	PID        int     `json:"pid"`
	Exe        string  `json:"exe"`
	Arch       string  `json:"arch"`
	PauseUS    *int64  `json:"pause_us,omitempty"`   // of a live process
	State      string  `json:"state,omitempty"`      // "stopped", of a live process that a signal has stopped
	Consistent bool    `json:"consistent,omitempty"` // the stacks are of one moment
	Core       string  `json:"core,omitempty"`       // the core file
	Snapshot   string  `json:"snapshot,omitempty"`   // the file with the snapshot
	Taken      string  `json:"taken,omitempty"`      // when the snapshot was
	Rounds     int     `json:"rounds,omitempty"`     // how many times the threads were added, if that is several
	Remote     string  `json:"remote,omitempty"`     // the stub's address
	Signal     *Signal `json:"signal,omitempty"`     // the signal that a core's process died of, or at which a stub's stopped
	// Handlers are the signals in whose handlers the thread was that died or was stopped, the
	// innermost first; nil for one that is not known.
	Handlers     []*Signal   `json:"handlers,omitempty"`
	*CrashReport             // of a minidump
	LastWords    []LastWords `json:"last_words,omitempty"`
	Threads      []Thread    `json:"threads"`
	Warnings     []string    `json:"warnings,omitempty"` // as they are printed, too
	Hints        []string    `json:"hints,omitempty"`    // what helps where functions have no names

	Goroutines []*goroutines.Entry `json:"goroutines,omitempty"` // with --goroutines, in place of Threads

	Tasks []Task `json:"tasks,omitempty"` // with --tasks, in place of Threads

	Stacks []StackEntry `json:"stacks,omitempty"` // with --merge: equal ones once
	Tree   []TreeEntry  `json:"tree,omitempty"`   // with --tree

	Deadlocks []waits.Deadlock   `json:"deadlocks,omitempty"` // threads that wait for each other
	Asleep    *goroutines.Asleep `json:"asleep,omitempty"`    // with --goroutines: all wait for each other

	Crashed []Thread `json:"-"` // threads with Thread.Crashed, without frames

	Digits int          `json:"-"` // of an address in texts
	Waits  *waits.Graph `json:"-"`
	Died   bool         `json:"-"` // the process died of Signal
}

// add adds a thread, or goroutine, whose stack is in Stacks or Tree.
func (d *Document) add(t *Thread) {
	if t.Goroutine == nil {
		d.Threads = append(d.Threads, *t)
		return
	}
	g := *t.Goroutine
	g.Stop, g.Error, g.MovedOn, g.Stack = t.Stop, t.Error, t.MovedOn, t.Stack
	if t.WaitsFor != nil {
		g.Call = t.WaitsFor
	}
	d.Goroutines = append(d.Goroutines, &g)
}

// Thread is a thread, or goroutine, with its stack.
type Thread struct {
	TID      int          `json:"tid"`
	Name     string       `json:"name"`
	Died     bool         `json:"died,omitempty"`      // a core's: the signal came to this thread
	Stopped  bool         `json:"stopped,omitempty"`   // a stub's: this thread made the process stop
	Kernel   string       `json:"kernel,omitempty"`    // what the kernel runs the thread for; then it has no stack
	WaitsFor *waits.Entry `json:"waits_for,omitempty"` // for a lock: only where all threads are of one moment
	Frames   []Frame      `json:"frames"`
	Stop     string       `json:"stop"`  // a frame.StopReason; "outermost" for a whole stack
	Error    string       `json:"error"` // why there is no stack, or what made it end early

	// Of a live process:
	HeldUS  *int64 `json:"held_us,omitempty"`  // the longest time that the thread was held
	MovedOn bool   `json:"moved_on,omitempty"` // it ran on before all was read

	Languages []waits.Told `json:"languages,omitempty"` // what languages know of the thread

	Stack *int `json:"stack,omitempty"` // with --merge: index of document.Stacks

	LastWords []LastWords `json:"-"` // that are not in the heading
	// Crashed is the innermost signal, of the signals in whose handlers the thread is, by which the
	// kernel or abort(3) ends a process that has no handler for it.
	Crashed *Signal `json:"-"`

	Goroutine        *goroutines.Entry `json:"-"` // nil for a thread
	created, creator uint64            // see goroutine.Goroutine

	Index  int    `json:"-"` // of a minidump: counts the threads in its order
	Whole  bool   `json:"-"`
	Cut    bool   `json:"-"` // not all is shown, for want of allowance
	Detail string `json:"-"` // Error without the part that Stop says already
}

// Frame is one frame: physical, or an inlined or tail call laid over one.
type Frame struct {
	Level    int         `json:"level"`
	Type     string      `json:"type"`
	PC       address.Hex `json:"pc"`
	CFA      address.Hex `json:"cfa"`
	Function string      `json:"function"`
	NameFrom string      `json:"name_from,omitempty"` // the table that Function is made of, if that is no name
	Offset   uint64      `json:"offset"`
	Module   string      `json:"module"`
	BuildID  string      `json:"build_id"`
	File     string      `json:"file"`
	Line     int         `json:"line"`
	Sniffer  string      `json:"sniffer"`

	Signal    *Signal      `json:"signal,omitempty"` // of a signal frame: what its handler was called for
	Guess     bool         `json:"guess,omitempty"`
	MovedOn   bool         `json:"moved_on,omitempty"` // the process ran on before this was read
	ID        string       `json:"id,omitempty"`
	TailCall  string       `json:"tail_call,omitempty"` // why it is shown, or why none is
	Registers []Register   `json:"registers,omitempty"`
	Explain   *Explanation `json:"explain,omitempty"`
	values.Shown
	Source []SourceLine `json:"source,omitempty"` // around Line

	// Of a language:
	Language    string       `json:"language,omitempty"`     // of a frame of type "language"
	Holds       []waits.Lock `json:"holds,omitempty"`        // that the frame has
	Column      int          `json:"column,omitempty"`       // in the line, where the language's own traces tell it
	Kind        string       `json:"kind,omitempty"`         // how it runs, where that is of use
	Place       *address.Hex `json:"place,omitempty"`        // with --explain: the record or code by which the frame was found
	Hidden      bool         `json:"hidden,omitempty"`       // a physical frame is the run time's own
	DecoratedBy string       `json:"decorated_by,omitempty"` // the language that hides or names a physical frame

	Instead string `json:"-"` // with --explain, the function of the physical frame that has a language's in its place

	Params symbol.Args `json:"-"` // whether the function has arguments
	Over   bool        `json:"-"` // lies over the same physical frame as the one before
	InFile uint64      `json:"-"` // link-time address
	Block  uint64      `json:"-"` // the address in block
}

// Register is a register as a frame sees it.
type Register struct {
	Name  string `json:"name"`
	Value string `json:"value"` // "0x…", "<not saved>" or "<unavailable>"
}

// Explanation is what --explain shows of a frame.
type Explanation struct {
	Row      string    `json:"row"`
	Declined []decline `json:"declined"`
	frameInfo
}

type decline struct {
	Sniffer string `json:"sniffer"`
	Reason  string `json:"reason"`
}

// StackEntry is a stack that is kept once, and the threads that have it.
type StackEntry struct {
	Count      int           `json:"count"`
	Threads    []ThreadEntry `json:"threads,omitempty"`
	Goroutines []uint64      `json:"goroutines,omitempty"` // their numbers
	Runtime    string        `json:"runtime,omitempty"`    // which has the goroutines, of several in one process
	Frames     []Frame       `json:"frames"`
	Stop       string        `json:"stop"`
	Error      string        `json:"error"`
}

// ThreadEntry is a thread whose stack others have, too.
type ThreadEntry struct {
	TID  int    `json:"tid"`
	Name string `json:"name"`
	Died bool   `json:"died,omitempty"`
}

// TreeEntry is a node of the tree in JSON. The nodes are a list, for no reader of JSON takes
// objects that are as deep as stacks can be.
type TreeEntry struct {
	Depth    int    `json:"depth"`
	Count    int64  `json:"count"`
	Self     int64  `json:"self"`
	Function string `json:"function"`
	NameFrom string `json:"name_from,omitempty"`
	Offset   uint64 `json:"offset"`
	Module   string `json:"module"`
	BuildID  string `json:"build_id"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column,omitempty"`
	Type     string `json:"type"`
	Language string `json:"language,omitempty"`
}
