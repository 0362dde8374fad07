package fp

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	unknownSP  = frame.Answer("SP is not known")
	noChain    = frame.Answer("the word at SP is no back chain: it does not point outward on the stack")
	chainRead  = frame.Answer("the back chain points to memory that cannot be read")
	chainCode  = frame.Answer("the return address found through the back chain is not in executable memory")
	chainACall = frame.Answer("the return address found through the back chain does not follow a call")
)

// backChain follows the word at SP to PREVIOUS's SP, above which a function that
// keeps the chain has saved its return address. The chain does not tell which other
// registers are saved.
func backChain(q *frame.Query) (trad.Row, frame.Answer) {
	a := q.Arch
	sp := q.This.Register(a.SP)
	if !sp.Known() {
		return trad.Row{}, unknownSP
	}
	p := q.Read(sp.Bits, a.PtrSize)
	if len(p) < a.PtrSize {
		return trad.Row{}, unreadable
	}
	prev := a.Word(p)
	if prev%uint64(a.StackAlign) != 0 || !a.InnerThan(sp.Bits, prev) || prev-sp.Bits > maxFrameSize {
		return trad.Row{}, noChain
	}
	cfa := prev - uint64(a.SPFromCFA)
	if p = q.Read(cfa+uint64(int64(a.BackChainRA)), a.PtrSize); len(p) < a.PtrSize {
		return trad.Row{}, chainRead
	}
	switch ra := a.CodeAddress(a.Word(p)); {
	case ra == 0 || !q.Modules.IsCode(ra-1):
		return trad.Row{}, chainCode
	case !q.MayFollowCall(ra):
		return trad.Row{}, chainACall
	}
	return trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | trad.Guess,
		CFA: trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: int32(cfa - sp.Bits)},
		RA:  trad.Rule{Kind: trad.Saved, Off: a.BackChainRA},
	}, frame.Claimed
}
