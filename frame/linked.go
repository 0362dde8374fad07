package frame

import "encoding/binary"

// unwindLinked is the inner loop of [Walker.unwindCached]. It unwinds frames as long as [rowSlot]'s
// outer leads from each row to the caller's, and all words lie in the window.
// slot has the row of pc; cfa is NEXT's CFA, and fp the value of FP. unwindLinked fills
// pcs, and cfas unless it is nil. It returns how many frames it unwound, and slot, pc, cfa and fp
// for the frame at which it ended. It may end at any frame: unwindCached then goes on.
//
// Recursion changes callers at its ends: then the hint is wrong, and is set anew.
//
// It is a function of its own so that the compiler keeps these values in registers.
func unwindLinked[W word](w *Walker, slot *rowSlot, pc, cfa, fp uint64, pcs, cfas []uint64) (int, *rowSlot, uint64, uint64, uint64) {
	size := sizeOf[W]()
	slots, callers := w.table.rows.slots[:], simple(w.table.rows.epoch, slotCaller)
	mask, toSP := w.arch.AddressMask, uint64(w.arch.SPFromCFA)
	lo, data := w.stack.window.lo, w.stack.window.data
	data = data[:len(data):len(data)]
	state := slot.state
	n := 0
	for n < len(pcs) && !state.has(slotLast) {
		base := cfa + toSP
		if state.has(slotFP) {
			base = fp
		}
		base = uint64(W(slot.row.CFA.At(base)))
		off := uint64(W(slot.row.RA.At(base))) - lo
		if base <= cfa || !holds(data, off, size) {
			break
		}
		var ra uint64 // as load reads it; the compiler would pass load the type at run time
		switch p := data[off : off+size]; {
		case ^W(0) < 0:
			ra = binary.BigEndian.Uint64(p)
		case size == 4:
			ra = uint64(binary.LittleEndian.Uint32(p))
		default:
			ra = binary.LittleEndian.Uint64(p)
		}
		ra &= mask
		outer := &slots[state.outer()]
		outerState := outer.state
		if outer.pc != ra || uint32(outerState) != callers {
			index := slotOf(ra)
			outer = &slots[index]
			if outerState = outer.state; outer.pc != ra || uint32(outerState) != callers {
				break
			}
			slot.state.setOuter(index)
		}
		if state.has(slotSaved) {
			off := uint64(W(slot.row.FP.At(base))) - lo
			if !holds(data, off, size) {
				break
			}
			fp = load[W](data[off : off+size])
		}
		pcs[n] = pc
		if cfas != nil {
			cfas[n] = base
		}
		n++
		slot, state, pc, cfa = outer, outerState, ra, base
	}
	return n, slot, pc, cfa, fp
}

// holds reports whether data has all size bytes of a word at an index.
func holds(data []byte, at, size uint64) bool { return at+size <= uint64(len(data)) && at <= at+size }
