package prologue

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	uprobes     = "[uprobes]" // the kernel's name for the page that it makes for probes of a process
	kernelPages = page
)

const inUprobes = frame.Answer("the kernel runs a probed instruction in this page, and nothing tells where it stands in the program")

// kernelPage answers for pages of code that the kernel has made, whose code cannot be read
// everywhere; is reports whether PC is in one.
//
// The functions in the vsyscall page need no stack. The page of uprobes has two purposes. A probe
// of a function's return (uretprobe) has replaced the return address by the page's first address.
// And the kernel runs there a copy of an instruction that it has replaced by a breakpoint; most
// such instructions begin functions.
func (s *Sniffer) kernelPage(q *frame.Query) (row trad.Row, answer frame.Answer, is bool) {
	a := q.Arch
	if !q.Innermost() {
		return row, answer, false
	}
	if a.Vsyscall != 0 && q.PC-a.Vsyscall < kernelPages {
		return spRow(q, -a.RAOffset-int32(a.SPFromCFA)), frame.Claimed, true
	}
	if q.Modules.KernelName(q.PC) != uprobes {
		return row, answer, false
	}
	next := q.This.Next()
	if next == nil || next.Level < 0 || next.Type() != frame.Normal {
		if row, answer = badCall(q); answer != frame.Claimed {
			answer = inUprobes
		}
		return row, answer, true
	}
	at, sure, err := s.replaced(q, next)
	row = trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | trad.TailCall,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: -int32(a.SPFromCFA)},
		RA:     trad.Rule{Kind: trad.ValExpr},
		FP:     trad.Rule{Kind: trad.Same},
		Others: &trad.OtherRules{Default: trad.Same, Exprs: []trad.Expression{replacedReturn{at, err}}},
	}
	if err == nil && !sure {
		row.Flags |= trad.Guess
	}
	return row, frame.Claimed, true
}

// replaced returns the return address that a probe has replaced, and whether that is sure. Where
// the kernel has walked the stack itself, along frame pointers, it has the true one instead of the
// page's (Linux 6.11 and later). But if the function of NEXT keeps no frame pointer, its frame is
// missing there, with this address.
func (s *Sniffer) replaced(q *frame.Query, next *frame.Frame) (ra uint64, sure bool, err error) {
	if ra, sure, ok := walkedBefore(q, next); ok && followsCall(q, ra) {
		c := callers{s: s, q: q, called: beginning(q, next)}
		if _, may := mayCall(q, ra, c.called, next.Module()); may {
			if _, ok := c.fits(ra); ok {
				return ra, sure, nil
			}
		}
	}
	ra, err = s.calledFrom(q, next)
	return ra, false, err
}

// maxWalked bounds the frames inside of THIS that are compared with the kernel's frames. By
// default, the kernel has 127.
const maxWalked = 1 << 10

// walkedBefore returns the return address that the kernel has behind the frames inside of THIS.
// sure says that there are several.
func walkedBefore(q *frame.Query, next *frame.Frame) (ra uint64, sure, ok bool) {
	m, ok := q.Memory.(target.WalkedMemory)
	if !ok {
		return 0, false, false
	}
	var pcs []uint64
	for f := next; f != nil && f.Level >= 0; f = f.Next() {
		if q.Modules.KernelName(f.PC()) != uprobes {
			pcs = append(pcs, f.PC())
		}
		if len(pcs) > maxWalked {
			return 0, false, false
		}
	}
	slices.Reverse(pcs)
	ra, ok = m.CallerOf(pcs)
	return ra, len(pcs) > 1, ok
}

// replacedReturn is the return address that a probe has replaced, or why nothing tells which that
// is.
type replacedReturn struct {
	at  uint64
	err error
}

// Eval implements trad.Expression.
func (x replacedReturn) Eval(trad.Env, uint64, bool) (uint64, error) { return x.at, x.err }

func (x replacedReturn) String() string { return "what the kernel's probe has replaced" }
