package plugin

import (
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is what the author of a plug-in implements.
type Sniffer interface {
	// Describe is called once, after the start.
	Describe() Description
	// Begin is called for each process whose stacks are walked, before the first
	// question about it, and again when the process has run on: what was known
	// of it may not hold any more. An error says, in a short sentence, why no
	// frame of this process will be claimed; it is no fault.
	Begin(t *Target) (Session, error)
}

// Session answers about one process. The host has as many sessions at once as
// processes; those of one plug-in may run concurrently.
type Session interface {
	// Sniff says how to unwind THIS frame, or why not. It is called for one frame
	// after the other.
	Sniff(q *Query) Answer
}

// SessionFunc is a [Session] that needs no type of its own.
type SessionFunc func(q *Query) Answer

// Sniff calls f.
func (f SessionFunc) Sniff(q *Query) Answer { return f(q) }

// Description is what a plug-in says of itself.
type Description struct {
	Name          string   // a-z, 0-9 and -, at most 32 bytes: what --explain shows
	Version       string   // of the plug-in, for people
	Architectures []string // GOARCH's names: "amd64"; nil means all
	// Before names the sniffer that is asked only after this one: "sigtramp" (the first
	// of all), "sframe", "fp", "dwarf", "prologue" or "fp-guess". "" means "prologue":
	// behind all that have tables, before those that read code.
	Before string
	Claims *Claims // where it can claim frames at all; nil: anywhere
	Needs  Needs
}

// Claims says where a plug-in can claim frames: elsewhere it is not asked.
type Claims struct {
	OutsideModules bool     // in code that no file is mapped at: a JIT's
	Modules        []string // in files whose base names match a pattern of path.Match: "libco.so*"
}

// Needs says what travels with each question, so that no more need be asked for.
type Needs struct {
	Stack      int // bytes of stack from SP outward; at most 65536
	CodeBefore int // bytes of code before PC; at most 4096
	CodeAfter  int // bytes of code from PC on; at most 4096
}

// Answer claims THIS by a row or a frame, or declines, and may tell what else is known.
// The host checks all of it. It puts the plug-in out of use for a row whose range does not hold
// the query's AddressInBlock, for a CFA that lies inside of THIS, and for a register that the
// processor does not have.
type Answer struct {
	// Why says why the sniffer declines; it is what --explain shows. Nobody asks about other
	// frames at this PC then, unless Once is set: it was for this frame alone.
	Why  string
	Once bool
	// Row unwinds THIS. Unless it has the flag [trad.Once], it holds for every frame with
	// a PC in its range, and nobody asks about those again. It cannot have expressions.
	Row *trad.Row
	// Frame unwinds THIS alone, where no row says how.
	Frame *Frame

	More    []trad.Row // rows of other code, each for its range; at most 64
	Never   []Range    // code that will never be claimed; at most 64
	Symbols []Symbol   // names for code; at most 64
	Name    *Symbol    // of THIS frame alone, where its code is that of an interpreter
}

// Decline is the answer of a sniffer that does not know, and why.
func Decline(why string) Answer { return Answer{Why: why} }

// Claim is the answer that THIS is unwound by a row.
func Claim(row trad.Row) Answer { return Answer{Row: &row} }

// Frame unwinds one frame: GDB's this_id and prev_register.
type Frame struct {
	CFA      uint64 // the stack address of THIS frame's ID
	Function uint64 // the code address of its ID: where its function begins; 0 if not known
	// Registers of PREVIOUS by DWARF number. PC must be there, SP is what the ABI makes of
	// the CFA where it is not; any other that is not is not tracked.
	Registers map[trad.Reg]Value
	// Flags are [trad.Signal], [trad.OtherStack], [trad.Outermost] and [trad.Guess].
	Flags trad.Flags
}

// Value is a register of PREVIOUS.
type Value struct {
	InMemory bool   // at address Bits
	Lost     bool   // the call has changed it; Bits does not count
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

// Module is a file that is mapped in the process.
type Module struct {
	Path     string    // as the process names it
	Mappings []Mapping // ascending
	// Of a query's module alone, where its file can be read:
	Bias    uint64 // what must be added to the file's addresses
	BuildID string // in hexadecimal
}

// Mapping is a range of addresses that a file is mapped at.
type Mapping struct {
	Range
	Offset uint64 // of Lo in the file
	Exec   bool   // code may run here
}
