package pypy

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pypy"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state of its own.
type Sniffer struct{}

func (*Sniffer) Name() string { return "pypy" }

const (
	unknown  = frame.Answer("the frames of PyPy's compiler on this architecture are not known")
	inFile   = frame.Answer("PC is in a file's code")
	noPyPy   = frame.Answer("the process has no PyPy")
	noStack  = frame.Answer("where the stack is cannot be told")
	noRecord = frame.Answer("no frame of PyPy's compiler is here")
)

// Sniff implements [frame.Sniffer].
func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	rules := q.Arch.PyPy
	if rules == nil {
		return trad.Row{}, unknown
	}
	if q.Module != nil {
		if _, _, err := q.Module.PeekImage(); err == nil {
			return trad.Row{}, inFile
		}
	}
	if !pypy.Is(q.Modules) {
		return trad.Row{}, noPyPy
	}
	sp := q.This.Register(q.Arch.SP)
	if !sp.Known() {
		return trad.Row{}, noStack
	}
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once,
		CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: int32(rules.CFA)},
		RA:  trad.Rule{Kind: trad.Saved, Off: -8},
		FP:  trad.Rule{Kind: trad.Saved, Off: int32(rules.Saves) - int32(rules.CFA)},
	}
	saved := rules.Saved
	if begun, ok := begun(q, rules); ok {
		row.Flags |= trad.InPrologue
		if begun < rules.Room {
			row.CFA.Off = bare
		}
		if begun < uint64(len(rules.Begin)) {
			row.FP = trad.Rule{Kind: trad.Same}
		}
		for saved = nil; begun >= rules.Stores[len(saved)]; {
			saved = rules.Saved[:len(saved)+1]
		}
	} else if q.Innermost() && bytes.Equal(q.Read(q.PC, len(rules.Return)), rules.Return) {
		row.Flags |= trad.InPrologue
		row.CFA.Off, row.FP, saved = bare, trad.Rule{Kind: trad.Same}, nil
	} else if at, ok := pypy.FrameFrom(q.Word, rules, sp.Bits); ok {
		row.CFA.Off += int32(at - sp.Bits)
	} else {
		return trad.Row{}, noRecord
	}
	row.Others = &trad.OtherRules{Regs: saved, Default: trad.Same}
	return row, frame.Claimed
}

// bare is the distance of the CFA from the stack pointer where only the return address is there.
const bare = 8

// begun returns how many bytes of the code that makes a frame have run; ok is false if the PC is
// not in such code.
func begun(q *frame.Query, rules *arch.PyPyFrame) (n uint64, ok bool) {
	all := rules.Stores[len(rules.Stores)-1]
	if !q.Innermost() {
		return 0, false
	}
	from := q.PC - all + 1
	if at := bytes.LastIndex(q.Read(from, int(all)+len(rules.Begin)-1), rules.Begin); at >= 0 {
		return all - 1 - uint64(at), true
	}
	return 0, false
}
