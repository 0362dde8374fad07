package dwarf

import (
	"iter"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// The functions of libgcc's unwinder (_Unwind_RaiseException, _Unwind_Resume) end in
// __builtin_eh_return: they take all frames down that an exception passes, and jump to its handler.
// Shortly before, they put what the handler's function has in its registers into the places where
// they have saved their own caller's registers. The return address is the last of these: it is then
// the one that the call has left by which the handler's function was left. No table says that, nor
// where the handler's stack pointer is. The frame itself has it: in a struct _Unwind_Context
// (libgcc's unwind-dw2.c) the stack pointer stands before the address at which the program goes on.

const (
	maxPassed  = 1 << 30 // bytes of frames that an exception passes
	maxHandler = 8 << 10 // bytes of the unwinder's frame
)

// savesHandlerData reports whether a row is a function's that ends so.
func savesHandlerData(a *arch.Arch, row *trad.Row) bool {
	for _, r := range a.Handlers.Data {
		if row.Others.Rule(r).Kind != trad.Saved {
			return false
		}
	}
	return len(a.Handlers.Data) > 0 && row.RA.Kind == trad.Saved
}

// handOver makes the table's row of a function that ends so THIS frame's. The places of registers
// do not depend on PC alone then. It reports whether the function has handed over: the places are
// as the row says, although the code may have taken the registers from there.
func handOver(q *frame.Query, row *trad.Row) bool {
	row.Flags |= trad.Once
	a := q.Arch
	c, ok := q.Apply(row)
	if !ok {
		return false
	}
	follows, known := q.FollowsCall(c.PC.Bits)
	if (!known || !follows) && a.RAOffset != 0 {
		return false // the handler, at the place from which the function returns to it
	}
	other, sure := calledOther(q, c.PC.Bits)
	if !q.MaySearch() {
		return false
	}
	sp, own, ok := handlerSP(q, c, other, sure)
	if ok {
		if own {
			row.RA.Off = int32(sp-c.CFA) - int32(a.PtrSize)
		}
		rule := trad.RegRule{Reg: a.SP, Rule: trad.Rule{Kind: trad.Value, Off: int32(sp - c.CFA)}}
		rules := *row.Others
		at, _ := slices.BinarySearchFunc(rules.Regs, a.SP, func(r trad.RegRule, sp trad.Reg) int {
			return int(r.Reg) - int(sp)
		})
		rules.Regs = slices.Insert(slices.Clone(rules.Regs), at, rule)
		row.Others = &rules
	} else if sure {
		row.Flags |= trad.Guess
	}
	return ok
}

// calledOther reports whether the call before a return address may have led to another function
// than THIS. sure says that it has.
func calledOther(q *frame.Query, ra uint64) (other, sure bool) {
	a := q.Arch
	to, direct := q.CallTarget(ra)
	if !direct {
		return true, false
	}
	this, _, known := q.FunctionAt(q.AddressInBlock)
	if !known || to == this {
		return false, false
	}
	m := q.Modules.Find(to)
	if m == nil {
		return false, false
	}
	if lo, hi, is := m.Stub(to); is {
		slot, _, ok := a.StubSlot(q.Read(lo, int(hi-lo)), lo, 0)
		if !ok {
			return true, false
		}
		function, ok := q.Word(slot)
		return !ok || function != this, false
	}
	return true, !q.Passes(to)
}

// handlerSP looks in THIS frame, c by its row, for the context of the handler. own says that THIS
// frame still has the return address of its own caller, but already the handler's frame pointer.
// other and sure are what [calledOther] has said of the return address.
func handlerSP(q *frame.Query, c frame.AppliedRow, other, sure bool) (sp uint64, own, ok bool) {
	from, m := q.This.Register(q.Arch.SP), q.Modules.Find(c.PC.Bits-1)
	if m == nil || !from.Known() || from.Bits >= c.CFA || c.CFA-from.Bits > maxHandler {
		return 0, false, false
	}
	if !q.CountSearched(int(c.CFA-from.Bits) / fast) {
		return 0, false, false
	}
	for x := range contexts(q, from.Bits, c.CFA) {
		to := q.Modules.Find(x.pc)
		switch {
		case to == nil:
			continue
		case x.pc == c.PC.Bits && other && q.Arch.RAOffset == 0:
			return x.sp, false, true // the handler is in the return address' place
		case x.pc == c.PC.Bits:
			continue
		}
		if !q.CountSearched(len(x.saved)) {
			break
		}
		if other && to == m && slices.ContainsFunc(x.saved, func(addr uint64) bool {
			if addr < c.CFA || addr >= x.sp {
				return false
			}
			ra, ok := q.Word(addr)
			return ok && q.Arch.CodeAddress(ra) == c.PC.Bits
		}) {
			return x.sp, false, true
		}
		pushed := x.sp - uint64(q.Arch.PtrSize)
		at, ok := q.Word(pushed)
		tookFP := c.FP.Known() && c.FP.Bits >= x.sp && c.FP.Bits-x.sp < maxPassed // not in the frames that are taken down
		switch {
		case q.Arch.RAOffset == 0 || !ok || !slices.Contains(x.saved, pushed):
		case q.MayFollowCall(x.pc): // perhaps the frame's further in, from which the context goes on to the next
		case other && to == m && at == x.pc: // the handler is in the return address' place
			return x.sp, false, true
		case !sure && q.Modules.Find(at-1) == to && q.MayFollowCall(at) && tookFP:
			return x.sp, true, true
		}
	}
	return 0, false, false
}

// A context is what may be a struct _Unwind_Context, about a frame further out.
type context struct {
	sp, pc uint64
	saved  []uint64 // where each register is saved, the return address, too; or 0, or the register itself
}

// contexts yields what may be contexts in the memory from an address to a CFA.
func contexts(q *frame.Query, from, cfa uint64) iter.Seq[context] {
	return func(yield func(context) bool) {
		size := q.Arch.PtrSize
		p := make([]byte, cfa-from)
		n, _ := q.Memory.ReadMemory(from, p)
		words := make([]uint64, n/size)
		for i := range words {
			words[i] = q.Arch.Word(p[i*size:])
		}
		for i := q.Arch.Handlers.Registers; i+1 < len(words); i++ {
			sp := words[i]
			if sp > cfa && sp-cfa < maxPassed && !yield(context{sp, words[i+1], words[i-q.Arch.Handlers.Registers : i]}) {
				return
			}
		}
	}
}
