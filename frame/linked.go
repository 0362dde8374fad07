package frame

// unwindLinked is the inner loop of [Walker.unwindCached]: it unwinds frames whose rows, and those of
// their callers, are found by [rowSlot]'s outer alone, and whose words all lie in the window.
// slot holds the row of pc, whose NEXT frame has the CFA cfa and left fp in FP. unwindLinked fills
// pcs, and cfas unless it is nil, and returns how many frames it unwound and the four values
// for the frame where it left off. Any frame may be one: unwindCached decides about it.
//
// It is a function of its own so that all that a frame changes stays in registers.
func (w *Walker) unwindLinked(slot *rowSlot, pc, cfa, fp uint64, pcs, cfas []uint64) (int, *rowSlot, uint64, uint64, uint64) {
	const caller = slotSimple | slotCaller
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
		base = slot.row.CFA.At(base)
		at := slot.row.RA.At(base) - lo
		if base <= cfa || !holds(data, at) {
			break
		}
		ra := load(data[at:at+8], big) & mask
		outer := &slots[slot.outer%rowSlots]
		if outer.pc != ra || outer.epoch != epoch || outer.bits&caller != caller {
			break
		}
		if slot.bits&slotSaved != 0 {
			at := slot.row.FP.At(base) - lo
			if !holds(data, at) {
				break
			}
			fp = load(data[at:at+8], big)
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

// holds reports whether data has a word at an index.
func holds(data []byte, at uint64) bool { return at+8 <= uint64(len(data)) && at <= at+8 }
