package ehabi

import (
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/exidx"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state of its own.
type Sniffer struct{}

var _ frame.ArchSniffer = (*Sniffer)(nil)

func (*Sniffer) Name() string { return "ehabi" }

// Serves reports whether the architecture is 32-bit Arm, which alone has such tables.
func (*Sniffer) Serves(a *arch.Arch) bool { return a != nil && a.ExceptionTables }

const (
	noModule   = frame.Answer("no module is mapped at PC")
	noImage    = frame.Answer("the module's file cannot be read")
	noSection  = frame.Answer("the module has no .ARM.exidx")
	broken     = frame.Answer("the module's .ARM.exidx is malformed")
	noEntry    = frame.Answer("no entry of .ARM.exidx covers PC")
	cantUnwind = frame.Answer("the entry of .ARM.exidx says that the function cannot be unwound")
	malformed  = frame.Answer("the entry of .ARM.exidx is malformed or uses what is not known here")
	otherEntry = frame.Answer("the entry of .ARM.exidx is of an earlier function: the linker has left out where that ends")
	byCode     = frame.Answer("the entry of .ARM.exidx is true at calls, and the code before PC says something else")
	tornDown   = frame.Answer("the entry of .ARM.exidx is true at calls, and the code at PC takes the frame down")
)

// section is a module's index.
type section struct {
	*exidx.Section
	bias uint64
	why  frame.Answer
}

type sectionKey struct{}

func sectionOf(m *target.Module) *section {
	return m.Memo(sectionKey{}, func() any { return open(m) }).(*section)
}

func open(m *target.Module) *section {
	s, bias, err := unwindtables.ExceptionsOf(m)
	switch err {
	case nil:
		return &section{Section: s, bias: bias}
	case unwindtables.ErrNoImage:
		return &section{why: noImage}
	case unwindtables.ErrBroken:
		return &section{why: broken}
	}
	return &section{why: noSection}
}

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil {
		return trad.Row{}, noModule
	}
	s := sectionOf(q.Module)
	if s.Section == nil {
		return trad.Row{}, s.why
	}
	addr := (q.AddressInBlock - s.bias) & (1<<32 - 1)
	e, err := s.Find(addr)
	if err != nil {
		return trad.Row{}, noEntry
	}
	lo, _, known := q.Module.Function(q.AddressInBlock)
	// Linkers join entries of functions that follow one another, if they are equal and inline. Old
	// ones leave out the entry that says that a function has none.
	if known && !e.Inline && !e.CantUnwind && (lo-s.bias)&(1<<32-1) > e.Lo {
		return trad.Row{}, otherEntry
	}
	u, err := s.Unwind(e)
	if errors.Is(err, exidx.ErrCantUnwind) {
		return trad.Row{}, cantUnwind
	}
	if err != nil {
		return trad.Row{}, malformed
	}
	row, err := u.Row()
	if err != nil {
		if errors.Is(err, exidx.ErrRefuse) {
			return trad.Row{}, cantUnwind
		}
		return trad.Row{}, malformed
	}
	row.Lo, row.Len = q.AddressInBlock, 1 // another PC of the function may be in its prologue
	if !q.Innermost() {
		return row, frame.Claimed
	}
	if !known {
		lo = e.Lo + s.bias
	}
	return atInstruction(q, row, lo)
}

// maxFunction is how many bytes of a function before PC are read.
const maxFunction = 64 << 10

// atInstruction returns the row of a frame that was not left by a call, whose function begins at
// lo, if the code agrees with it.
func atInstruction(q *frame.Query, row trad.Row, lo uint64) (trad.Row, frame.Answer) {
	if q.PC-lo > maxFunction {
		if q.Contradicted(&row) {
			return trad.Row{}, tornDown
		}
		return row, frame.Claimed
	}
	code := make([]byte, q.PC-lo+frame.CodeBehind)
	n, _ := q.Memory.ReadMemory(lo, code)
	read, _, why := q.Arch.ReadFrame(code[:n], lo, q.PC)
	if why == "" && read.Flags&trad.Guess == 0 {
		here, known := q.Apply(&read)
		there, also := q.Apply(&row)
		if known && also && (here.CFA != there.CFA || here.PC.Bits != there.PC.Bits) {
			return trad.Row{}, byCode
		}
		return row, frame.Claimed
	}
	if q.Contradicted(&row) {
		return trad.Row{}, tornDown
	}
	return row, frame.Claimed
}
