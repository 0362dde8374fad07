package plugin

import (
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the interface that a plug-in implements.
type Sniffer interface {
	// Describe is called once, after the start.
	Describe() Description
	// Begin is called for each process, before the first question about it. It is called
	// again when the process has run on: earlier knowledge may not hold any more. An error is
	// no fault: it says, in a short sentence, why the plug-in claims no frame of this process.
	Begin(t *Target) (Session, error)
}

// Session answers questions about one process. [Sniffer].Begin returns it. The host may have
// several sessions at once, for several processes, and they may run concurrently.
type Session interface {
	// Sniff says how to unwind THIS frame, or why the plug-in declines it. One session has one
	// call at a time.
	Sniff(q *Query) Answer
}

// SessionFunc is a [Session] that needs no type of its own.
type SessionFunc func(q *Query) Answer

// Sniff calls f.
func (f SessionFunc) Sniff(q *Query) Answer { return f(q) }

// Description describes a plug-in to the host.
type Description struct {
	Name          string   // a-z, 0-9 and -, at most 32 bytes: what --explain shows
	Version       string   // of the plug-in, for people
	Architectures []string // GOARCH's names: "amd64"; nil means all
	// Before names the sniffer that is asked only after this one: "sigtramp" (the first of all),
	// "sframe", "fp", "dwarf", "prologue" or "fp-guess". "" means "prologue": behind all sniffers
	// that have tables, before the sniffers that read code.
	Before string
	Claims *Claims // the code where it can claim frames; nil for all code
	Needs  Needs
	// Decorates announces a [Decorator]; nil for a plug-in that is none.
	Decorates *Decorates
}

// Claims says in which code a plug-in can claim frames. The host does not ask it elsewhere.
type Claims struct {
	OutsideModules bool     // in code outside of mapped files: a JIT's
	Modules        []string // in files with base names that match a pattern of path.Match: "libco.so*"
}

// Needs says how much memory comes with each question, so that the plug-in need not request it.
type Needs struct {
	Stack      int // bytes of stack from SP outward; at most 65536
	CodeBefore int // bytes of code before PC; at most 4096
	CodeAfter  int // bytes of code from PC on; at most 4096
}

// Answer claims THIS by a row or a frame, or declines. It may also tell of other code.
// The host checks all of it. It puts the plug-in out of use for a row whose range does not hold
// the query's AddressInBlock, for a CFA that lies inside of THIS, and for a register that the
// processor does not have.
type Answer struct {
	// Why says why the sniffer declines; --explain shows it. The answer holds for all frames at
	// this PC, or for this frame alone if Once is true.
	Why  string
	Once bool
	// Row unwinds THIS. It holds for every frame with a PC in its range, and the host does not ask
	// about them again, unless the row has the flag [trad.Once]. It cannot have expressions.
	Row *trad.Row
	// Frame unwinds THIS alone, if no row can say how.
	Frame *Frame

	More    []trad.Row // rows of other code, each for its range; at most 64
	Never   []Range    // code that the plug-in never claims; at most 64
	Symbols []Symbol   // names for code; at most 64
	Name    *Symbol    // of THIS frame alone, for an interpreter's code
}

// Decline returns an answer that declines, with the reason.
func Decline(why string) Answer { return Answer{Why: why} }

// Claim returns an answer that unwinds THIS by a row.
func Claim(row trad.Row) Answer { return Answer{Row: &row} }

// Frame unwinds one frame: GDB's this_id and prev_register.
type Frame struct {
	CFA      uint64 // the stack address of THIS frame's ID
	Function uint64 // the code address of its ID: where its function begins; 0 if not known
	// Registers of PREVIOUS by DWARF number. PC is required, unless Flags has [trad.Outermost].
	// Without SP, PREVIOUS's SP is what the ABI makes of the CFA. Other registers that are
	// missing are not tracked.
	Registers map[trad.Reg]Value
	// Flags are [trad.Signal], [trad.OtherStack], [trad.Outermost] and [trad.Guess]; and
	// [trad.Dummy], [trad.Inline], [trad.TailCall] and [trad.Injected]. An older host, which does
	// not know these, shows the frame as it would without them.
	Flags trad.Flags
	// Special is the special address of THIS frame's ID, if HasSpecial. It tells frames apart that
	// have equal CFA and Function.
	Special    uint64
	HasSpecial bool
}

// Value is a register of PREVIOUS.
type Value struct {
	InMemory bool   // the register is saved in memory, at Bits
	Lost     bool   // the call has changed it; Bits means nothing
	Bits     uint64 // the value, or its address
}

// Range is [Lo, Hi), run-time addresses.
type Range struct{ Lo, Hi uint64 }

// Symbol names code: a function, or a part of it with a line of its own.
type Symbol struct {
	Range
	Function string // at most 4096 bytes, as File
	File     string // "" if not known
	Line     int    // from 1; 0 if not known
	Start    uint64 // where the function begins; 0 for Lo
}

// Block is memory.
type Block struct {
	Addr uint64
	Data []byte
}

// Module is a file that the process has mapped.
type Module struct {
	Path     string    // as the process names it
	Mappings []Mapping // ascending
	// Only of a query's module, and if its file can be read:
	Bias    uint64 // run-time addresses are the file's plus Bias
	BuildID string // in hexadecimal
}

// Mapping is a range of addresses where a file is mapped.
type Mapping struct {
	Range
	Offset uint64 // of Lo in the file
	Exec   bool   // code may run here
}
