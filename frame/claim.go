package frame

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// Reasons of claimErr.
var (
	errNobody  = errors.New("no sniffer knows how to unwind it")
	errGuess   = errors.New("it is a guess, and leads to no code")
	errClobber = errors.New("the return address would be in the link register, which the call has overwritten")
)

func (f *Frame) query() *Query {
	s := f.stack
	q := &s.query
	q.PC, q.AddressInBlock, q.This, q.coded = f.pc, f.AddressInBlock(), f, false
	q.fresh = f.Level >= s.search.level
	q.Module = s.modules.Find(q.AddressInBlock)
	return q
}

// sniff finds the row that unwinds THIS, in the cache or by asking the sniffers in the table's
// order, and applies it. cached says that it has not: it has put the row of a Walker's THIS
// into the cache, and [Walker.unwindCached] is to apply it.
func (f *Frame) sniff() (cached bool) {
	cached = f.ask()
	w := &f.stack.window
	f.late, w.late = w.late, false
	if f.stack.slots != nil {
		f.stack.settleSlots(f)
	}
	return cached
}

func (f *Frame) ask() (cached bool) {
	s := f.stack
	rows := &s.table.rows
	rows.start(s.modules.Generation)
	var slot *rowSlot
	hit, placed := false, false
	if s.table.placed != nil {
		s.table.checkPlaces()
		placed = s.table.hasPlace(f.pc)
	}
	if !placed { // else no row may be kept for all frames at the PC
		if slot, hit = rows.find(f.pc, f.caller); !hit && rows.shared != nil {
			hit = rows.takeShared(slot, s.table, f)
		}
	}
	if hit && f.applySimple(slot) {
		return false
	}
	s.window.late = false // what was read will be once more
	f.winner, f.cfa, f.claimReason, f.claimErr = -1, 0, Unavailable, errNobody
	from, signal, mapped := 0, false, true
	if f.caller && !hit && s.modules.KernelName(f.pc) != "" && s.modules.KernelName(f.pc-1) == "" {
		f.caller = false // no call can have been there: the kernel has replaced the return address
		slot = nil
	}
	switch {
	case hit:
		// apply may make inner frames, and these may take the slot for another PC.
		row, winner := slot.row, slot.state.winner()
		if f.apply(&row, winner) {
			f.checkReturnAddress()
			return false
		}
		slot = nil // keeps its row: the first one that could be applied to a frame at the PC
		from, signal = winner+1, s.table.ofSignal(winner, &row)
	// A signal handler returns to a trampoline's first byte, which may be the first
	// of its mapping.
	case f.caller && !f.inCode && !s.modules.IsCode(f.AddressInBlock()) && !s.modules.IsCode(f.pc):
		if placed {
			if f.askPlaced() {
				return false
			}
			f.claimReason, f.claimErr = Unavailable, errNobody
		}
		if f.askRewriting() {
			return false
		}
		// No call can have been there.
		if len(f.query().Read(f.pc, 1)) > 0 {
			f.claimReason, f.claimErr = NotCode, errNotCode
			return false
		}
		// Core files of emulators lack the trampoline's page: only the stack can tell.
		signal, mapped = true, false
	}
	before := s.searched
	var c claims
	c.begin(f, from)
	c.signal, c.onStack = signal, !mapped
	for !c.onStack && c.next() || c.signal && f.claimReason != Outermost && c.byStack() {
		if f.ofWalker && slot != nil && f.cacheSimple(slot, &c, before) {
			return true
		}
		if !f.apply(&c.row, c.by) {
			if c.row.CFA.Kind != trad.NotTracked && !f.clobbered(&c.row) {
				slot = nil
			}
			c.reject()
			continue
		}
		if c.row.Flags&trad.Guess != 0 && f.planted() {
			f.makeOutermost()
			return false
		}
		if f.endsAt(&c.row) && f.begins() {
			f.caller = false // PC-1 belongs to another function
			return f.ask()
		}
		if slot != nil && c.row.Flags&trad.Once == 0 {
			f.keep(slot, &c, s.table.simpleBits(&c.row, c.by), before)
		}
		f.checkReturnAddress()
		return false
	}
	if f.unclaimed(&c); !mapped {
		f.typ, f.claimReason, f.claimErr = Normal, NotCode, errNotCode
	}
	return false
}

// unclaimed sets the reason why no sniffer has claimed THIS, or makes it the outermost frame.
func (f *Frame) unclaimed(c *claims) {
	s := f.stack
	if c.onStack {
		f.typ = SigTramp
		if f.claimErr == errNobody {
			f.claimErr = errSignal
		}
		return
	}
	if f.claimErr == errNobody && s.search.denied {
		f.claimErr = errSearched
	}
	if !s.modules.IsCode(f.AddressInBlock()) {
		f.claimReason, f.claimErr = NotCode, errNotCode
	}
	switch {
	case f.claimReason == Outermost:
	case f.planted():
		f.makeOutermost()
	case f.beganThread():
		f.claimReason, f.claimErr = Outermost, nil
	}
}

// keep puts the last claim's row into a slot. It also shares the row if code was searched through
// for it. before is how much had been searched for the stack before the claim.
func (f *Frame) keep(slot *rowSlot, c *claims, bits slotBits, before int64) {
	s := f.stack
	rows := &s.table.rows
	rows.put(slot, &c.row, f, c.by, bits)
	if rows.shared != nil && s.searched > before {
		rows.shared.put(rows.generation, searched{f.pc, f.caller}, sharedRow{c.row, c.by})
	}
}

// cacheSimple keeps the last claim's row, if [Walker.unwindCached] can apply it, and reports
// whether it has. That costs less than to apply the row here. If the row does not lead to a caller,
// unwindCached leaves THIS to unwindAsStack once more.
func (f *Frame) cacheSimple(slot *rowSlot, c *claims, before int64) bool {
	t := f.stack.table
	bits := t.simpleBits(&c.row, c.by)
	if c.by > maxWinner || bits&slotSimple == 0 || c.row.Flags&trad.Guess != 0 {
		return false
	}
	if f.caller != f.stack.walk.Caller || f.endsAt(&c.row) && !f.stack.query.MayFollowCall(f.pc) {
		return false // unwindCached knows nothing of functions that no call has led to
	}
	f.keep(slot, c, bits, before)
	t.rows.stats.Hits-- // unwindCached will look the row up, and count this look-up once more
	return true
}

// endsAt reports whether a row that was looked up at PC-1 ends at PC.
func (f *Frame) endsAt(row *trad.Row) bool { return f.caller && row.Lo+uint64(row.Len) == f.pc }

// applySimple applies a simple row (slotSimple), as nearly all are, and checks that it leads to
// code. It reports whether it does; if not, apply and checkReturnAddress are to do it.
func (f *Frame) applySimple(slot *rowSlot) bool {
	if slot.state.bits()&(slotSimple|slotLast) != slotSimple {
		return false
	}
	base, known := f.sp, f.spKnown
	if slot.state.has(slotFP) {
		base, known = f.fp.Bits, f.fp.Known()
	}
	if !known {
		f.stack.lacks = true
		return false
	}
	s := f.stack
	f.row, f.cfa = slot.row, s.arch.Wrap(slot.row.CFA.At(base))
	if f.cfa+uint64(s.arch.SPFromCFA) < f.sp {
		return false // SP would move inward: see findsChange
	}
	f.winner, f.typ, f.byUnwinder = int16(slot.state.winner()), Normal, false
	f.ra = f.wordAt(slot.row.RA.At(f.cfa))
	rows := &s.table.rows
	pc := s.arch.CodeAddress(f.ra.Bits)
	return f.ra.Known() && (rows.slots[slotOf(pc)].is(pc, rows.epoch, true) || f.returnsToCode())
}

// apply makes the sniffer at position i of the table the winner, if its row can be applied to
// THIS, and reports whether it can. An outermost row may have no CFA, as SFrame's. Then a
// later sniffer may know the CFA, but it is certain that there is no PREVIOUS.
func (f *Frame) apply(row *trad.Row, i int) bool {
	cfa, err := f.cfaBy(row)
	if err != nil {
		if row.Flags&trad.Outermost != 0 {
			f.claimReason, f.claimErr = Outermost, nil
		}
		if f.claimReason == Outermost {
			return false
		}
		var mem *readError
		if errors.As(err, &mem) {
			f.claimReason = MemoryError
		}
		f.claimErr = fmt.Errorf("%s: %w", f.stack.table.sniffers[i].Name(), err)
		return false
	}
	if f.clobbered(row) {
		f.claimErr = fmt.Errorf("%s: %w", f.stack.table.sniffers[i].Name(), errClobber)
		return false
	}
	f.winner, f.row, f.cfa = int16(i), *row, cfa
	f.later, f.values = nil, nil // of another row
	f.typ = Normal
	if row.Flags&typed != 0 {
		f.typ = typeOf(row.Flags)
	}
	u := f.stack.table.unwinders[i]
	if f.byUnwinder = u != nil; f.byUnwinder {
		f.typ = u.Type()
	}
	return true
}

// cfaBy returns the CFA that a row gives THIS.
func (f *Frame) cfaBy(row *trad.Row) (cfa uint64, err error) {
	cfa, err = row.Apply((*env)(f))
	return f.stack.arch.Wrap(cfa), err
}

// clobbered reports whether a row says that the return address is still in the link register,
// although THIS has called NEXT since, which has overwritten the register.
func (f *Frame) clobbered(row *trad.Row) bool {
	a := f.stack.arch
	return f.caller && a.RA != a.PC && row.RA.Kind == trad.Same && row.Flags&trad.Outermost == 0
}

// checkReturnAddress reads THIS frame's return address by the winner's row. If it is not
// code, the row may be wrong: assemblers for SFrame V1 write wrong rows for
// functions that keep the CFA or the return address in an odd register. Then the first later
// sniffer whose row leads to code wins. A guess wins only over a guess; and a guess that
// leads to no code is no claim at all. One that leads to code competes with other guesses.
func (f *Frame) checkReturnAddress() {
	if f.stack.window.takeLate() {
		f.moved = true // the row or the CFA is of another moment
	}
	if f.row.Flags&trad.Outermost != 0 {
		return
	}
	s := f.stack
	if f.readReturnAddress(); f.typ != Normal || f.returnsToCode() {
		if f.typ == Normal && f.row.Flags&trad.Guess != 0 {
			f.contest()
		}
		return
	}
	first := *f
	guess := first.row.Flags & trad.Guess
	var c claims
	for c.begin(f, int(first.winner)+1); c.next(); {
		if c.row.Flags&(trad.Guess|trad.Outermost)&^guess != 0 || !f.apply(&c.row, c.by) {
			continue
		}
		if f.readReturnAddress(); f.returnsToCode() {
			return
		}
	}
	switch *f = first; {
	case f.planted():
		f.makeOutermost()
	case f.startsProgram(), guess == 0 && f.endsCoroutine():
		f.row.Flags |= trad.Outermost
	case guess != 0 && f.ra.Known() && s.arch.CodeAddress(f.ra.Bits) != 0:
		f.winner, f.typ, f.byUnwinder, f.row, f.cfa = -1, Normal, false, trad.Row{}, 0
		f.claimReason, f.claimErr = Unavailable, fmt.Errorf("%s: %w", s.table.sniffers[first.winner].Name(), errGuess)
	}
}

// readReturnAddress reads THIS frame's return address by its row, and finds out whether THIS has
// changed stacks.
func (f *Frame) readReturnAddress() {
	pc := f.stack.arch.PC
	if f.ra = f.prevRegister(pc); f.findsChange() {
		f.typ, f.changesStack = OtherStack, true
	}
}

func (f *Frame) returnsToCode() bool {
	a := f.stack.arch
	pc := a.CodeAddress(f.ra.Bits)
	s := f.stack
	return f.ra.Known() && pc != 0 && (s.modules.IsCode(pc-1) || s.modules.IsCode(pc) || s.table.placed != nil && s.table.hasPlace(pc))
}
