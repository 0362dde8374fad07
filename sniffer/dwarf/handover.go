package dwarf

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// The functions of libgcc's unwinder (_Unwind_RaiseException, _Unwind_Resume) end in __builtin_eh_return: they take
// all frames down that an exception passes, and jump to its handler. Shortly before, they put what the handler's
// function has in its registers into the places where they have saved their own caller's. The return address is
// among these: it is then that of the call by which the handler's function was left, and further out on the stack
// is another copy of it, which the handler's address replaces at last. No table says that, nor where the handler's
// stack pointer is.

const (
	maxPassed   = 64 << 10 // bytes of frames that are looked through
	passedBlock = 4 << 10
)

// handedOver returns THIS frame's row if the function is one that ends so. row is the table's. The places of registers
// do not depend on PC alone then.
func handedOver(q *frame.Query, row trad.Row) trad.Row {
	a := q.Arch
	for _, r := range a.HandlerData {
		if row.Others.Rule(r).Kind != trad.Saved {
			return row
		}
	}
	if len(a.HandlerData) == 0 || row.RA.Kind != trad.Saved {
		return row
	}
	row.Flags |= trad.Once
	c, ok := q.Apply(&row)
	if !ok {
		return row
	}
	if follows, known := q.FollowsCall(c.PC.Bits); !known || !follows {
		return row // the handler
	}
	other, sure := calledOther(q, c.PC.Bits)
	if !other || !q.MaySearch() {
		return row
	}
	from, found := leftAt(q, c.CFA, c.PC.Bits)
	if found {
		size := int32(a.PtrSize)
		sp := trad.RegRule{Reg: a.SP, Rule: trad.Rule{Kind: trad.Value, Off: int32(from-c.CFA) + size}}
		rules := *row.Others
		at, _ := slices.BinarySearchFunc(rules.Regs, a.SP, func(r trad.RegRule, sp trad.Reg) int { return int(r.Reg) - int(sp) })
		rules.Regs = slices.Insert(slices.Clone(rules.Regs), at, sp)
		row.Others = &rules
	}
	if found || sure {
		row.Flags |= trad.Guess
	}
	return row
}

// calledOther reports whether the call before a return address may have led to another function than THIS. sure says
// that it has.
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

// leftAt looks on the stack from an address on for the return address ra, or for the handler in its place, which is in
// the same function. It returns where the first of them is.
func leftAt(q *frame.Query, from, ra uint64) (addr uint64, ok bool) {
	lo, hi, _ := q.FunctionAt(ra - 1)
	size := uint64(q.Arch.PtrSize)
	buffer := make([]byte, passedBlock)
	for at := from; at < from+maxPassed && q.CountSearched(passedBlock/fast); at += passedBlock {
		n, _ := q.Memory.ReadMemory(at, buffer)
		for i := uint64(0); i+size <= uint64(n); i += size {
			word := q.Arch.Word(buffer[i : i+size])
			if word == ra || word > lo && word < hi && !q.MayFollowCall(word) {
				return at + i, true
			}
		}
		if n < passedBlock {
			break
		}
	}
	return 0, false
}
