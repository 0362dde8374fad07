package zend

import (
	"iter"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer.
type Sniffer struct {
	// Rows yields the rows, from pc on, of the function at pc.
	Rows func(q *frame.Query, pc uint64) iter.Seq[trad.Row]
}

func (*Sniffer) Name() string { return "zend" }

const (
	unshared  = frame.Answer("PC is in memory that processes do not share")
	inFile    = frame.Answer("PC is in a file's code")
	noEngine  = frame.Answer("the process has no PHP")
	noRow     = frame.Answer("PHP's execute_ex has no row that the code at PC could share")
	elsewhere = frame.Answer("no return address to a caller of PHP's execute_ex is where its frame has one")
)

// Sniff implements [frame.Sniffer].
func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	switch {
	case q.Module == nil && q.Modules.IsCode(q.AddressInBlock):
		return trad.Row{}, unshared // another compiler's, such as PCRE's
	case q.Module != nil:
		if _, _, err := q.Module.PeekImage(); err == nil {
			return trad.Row{}, inFile
		}
	}
	e := s.engineOf(q)
	if e.why != frame.Claimed {
		return trad.Row{}, e.why
	}
	row := e.row
	row.Lo, row.Len, row.Flags = q.PC, 1, row.Flags|trad.Once
	base := q.This.Register(row.CFA.Reg)
	if !base.Known() {
		return trad.Row{}, elsewhere
	}
	at := base.Bits + uint64(row.CFA.Off) + uint64(row.RA.Off)
	for more := 0; more <= mostMore; more += q.Arch.PtrSize {
		if to, ok := q.Word(at + uint64(more)); ok && e.calls(q, to) {
			row.CFA.Off += int32(more)
			return row, frame.Claimed
		}
		if row.CFA.Reg != q.Arch.SP {
			break // the frame is where it is, whatever SP is
		}
	}
	return trad.Row{}, elsewhere
}

// SniffsRewritten implements [frame.RewritingSniffer]: the code calls the compiler.
func (*Sniffer) SniffsRewritten() {}

// mostMore bounds how much more of the stack than execute_ex the code takes, bytes: where it leaves
// a trace, it saves all registers, also the ones for floating-point numbers.
const mostMore = 512

// engine says where a process has PHP's interpreter.
type engine struct {
	why     frame.Answer // why it cannot be used
	row     trad.Row     // of the interpreter's frames
	callers []span       // the functions that call execute_ex
}

type span struct{ lo, hi uint64 }

type engineKey struct{}

// variable is one that every such interpreter has.
var variable = elf.Seldom("zend_execute_ex")

// leastEngine is how large a file with PHP's interpreter is at least, in memory, bytes.
const leastEngine = 2 << 20

func (s *Sniffer) engineOf(q *frame.Query) *engine {
	return q.Modules.Memo(engineKey{}, func() any {
		for _, m := range q.Modules.All() {
			if m.Hi()-m.Lo() < leastEngine {
				continue
			}
			if im, bias, err := m.PeekImage(); err == nil && im.MayHaveSymbol(variable) {
				return s.engineIn(q, im, bias)
			}
		}
		return &engine{why: noEngine}
	}).(*engine)
}

// engineIn takes from a file what is needed.
func (s *Sniffer) engineIn(q *frame.Query, im *elf.Image, bias uint64) *engine {
	e := &engine{why: noRow}
	for _, name := range []string{"zend_call_function", "zend_execute", "zend_generator_resume", "dtrace_execute_ex"} {
		for _, f := range im.Lookup(name, 1) {
			e.callers = append(e.callers, span{f.Addr + bias, f.Addr + f.Size + bias})
		}
	}
	for _, f := range im.Lookup("execute_ex", 1) {
		// Most of the function has one row: of its frame when that is set up.
		for row := range s.Rows(q, f.Addr+bias) {
			if row.CFA.Kind == trad.InReg && row.RA.Kind == trad.Saved && (e.why != frame.Claimed || row.Len > e.row.Len) {
				e.row, e.why = row, frame.Claimed
			}
		}
	}
	return e
}

// longestCall is how long the instruction of a call is at most, bytes.
const longestCall = 8

// calls reports whether an address is behind a call in a function that calls execute_ex.
func (e *engine) calls(q *frame.Query, to uint64) bool {
	for _, f := range e.callers {
		if to > f.lo && to < f.hi {
			return q.Arch.AfterCall == nil || q.Arch.AfterCall(q.Read(to-longestCall, longestCall))
		}
	}
	return false
}
