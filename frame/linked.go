package frame

// unwindLinked is the inner loop of [Walker.unwindCached]. It unwinds frames as long as [rowSlot]'s
// outer leads from each row to the caller's, and all words lie in the window.
// slot has the row of pc; cfa is NEXT's CFA, and fp the value of FP. unwindLinked fills
// pcs, and cfas unless it is nil. It returns how many frames it unwound, and slot, pc, cfa and fp
// for the frame at which it ended. It may end at any frame: unwindCached then goes on.
//
// It is a function of its own so that the compiler keeps these values in registers.
func unwindLinked[W word](w *Walker, slot *rowSlot, pc, cfa, fp uint64, pcs, cfas []uint64) (int, *rowSlot, uint64, uint64, uint64) {
	const caller = slotSimple | slotCaller
	size := sizeOf[W]()
	slots, epoch := w.table.rows.slots, w.table.rows.epoch
	mask, toSP := w.arch.AddressMask, uint64(w.arch.SPFromCFA)
	lo, data, big := w.stack.window.lo, w.stack.window.data, w.stack.window.big
	data = data[:len(data):len(data)]
	n := 0
	for n < len(pcs) && slot.bits&slotLast == 0 {
		base := cfa + toSP
		if slot.bits&slotFP != 0 {
			base = fp
		}
		base = uint64(W(slot.row.CFA.At(base)))
		off := uint64(W(slot.row.RA.At(base))) - lo
		if base <= cfa || !holds(data, off, size) {
			break
		}
		ra := load(data[off:off+size], size, big) & mask
		outer := &slots[slot.outer%rowSlots]
		if outer.pc != ra || outer.epoch != epoch || outer.bits&caller != caller {
			break
		}
		if slot.bits&slotSaved != 0 {
			off := uint64(W(slot.row.FP.At(base))) - lo
			if !holds(data, off, size) {
				break
			}
			fp = load(data[off:off+size], size, big)
		}
		pcs[n] = pc
		if cfas != nil {
			cfas[n] = base
		}
		n++
		slot, pc, cfa = outer, ra, base
	}
	return n, slot, pc, cfa, fp
}

// holds reports whether data has all size bytes of a word at an index.
func holds(data []byte, at, size uint64) bool { return at+size <= uint64(len(data)) && at <= at+size }
