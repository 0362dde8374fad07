package frame

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// Claim says who unwinds a frame, how, and who declined before.
type Claim struct {
	Sniffer  string   // "" if nobody claimed the frame
	Row      trad.Row // valid if Sniffer is not ""
	Declined []Decline
}

// Decline is a sniffer's reason for not claiming a frame.
type Decline struct{ Sniffer, Reason string }

// What the claims leave open.
var (
	errNobody  = errors.New("no sniffer knows how to unwind it")
	errGuess   = errors.New("it is a guess, and leads to no code")
	errClobber = errors.New("the return address would be in the link register, which the call has overwritten")
)

// lost is the reason of a sniffer whose row looked right, until it was used.
const lost Answer = "its row leads to no code, and another's does"

// Sniffer returns the name of the sniffer that claimed THIS, "" if none did.
func (f *Frame) Sniffer() string {
	if f.winner < 0 || f.Level < 0 {
		return ""
	}
	return f.stack.table.sniffers[f.winner].Name()
}

// Row returns the row by which THIS is unwound; the zero Row if nobody claimed it.
func (f *Frame) Row() trad.Row {
	if f.winner < 0 {
		return trad.Row{}
	}
	return f.row
}

// Claim returns who claimed THIS, with which row, and asks those before it once more for
// their reasons.
func (f *Frame) Claim() Claim {
	if f.Level < 0 {
		return Claim{}
	}
	c := Claim{Sniffer: f.Sniffer(), Row: f.Row()}
	q := f.query()
	signal := false
	for i, s := range f.stack.table.sniffers {
		_, late := s.(SignalSniffer)
		if i == int(f.winner) && !late {
			break
		}
		row, answer := s.Sniff(q)
		if i == int(f.winner) && answer == Claimed {
			break // else it was SniffSignal that claimed, when all had declined
		}
		signal = signal || answer == SignalFrame
		if answer == Claimed {
			// It claimed, and its row could not be applied to this frame, or lost (lookBack).
			if signal && !f.stack.table.ofSignal(i, &row) {
				answer = Answer(errNotSignal.Error())
			} else if _, err := row.Apply((*env)(f)); err != nil {
				signal = signal || f.stack.table.ofSignal(i, &row)
				answer = Answer(err.Error())
			} else if f.clobbered(&row) {
				answer = Answer(errClobber.Error())
			} else {
				if answer = lost; f.winner < 0 {
					answer = Answer(errGuess.Error())
				}
			}
		}
		c.Declined = append(c.Declined, Decline{s.Name(), string(answer)})
	}
	return c
}

func (f *Frame) query() *Query {
	s := f.stack
	q := &s.query
	q.PC, q.Block, q.This, q.coded = f.pc, f.AddressInBlock(), f, false
	q.fresh = f.Level >= s.search.level
	q.Module = s.modules.Find(q.Block)
	return q
}

// sniff finds who can unwind THIS, in the table's order or by a row that is
// cached, and applies the row. Where it has only learned the row of a Walker's THIS, that is
// for [Walker.fast] to apply.
func (f *Frame) sniff() (learned bool) {
	learned = f.ask()
	f.late = f.stack.window.takeLate()
	return learned
}

func (f *Frame) ask() (learned bool) {
	s, from := f.stack, 0
	rows := &s.table.rows
	rows.start(s.modules.Generation)
	slot, hit := rows.find(f.pc, f.caller)
	if !hit && rows.shared != nil {
		hit = rows.learn(slot, s.table, f.pc, f.caller)
	}
	if hit && f.applyFast(slot) {
		return false
	}
	s.window.late = false // what was read will be once more
	f.winner, f.cfa, f.claimReason, f.claimErr = -1, 0, Unavailable, errNobody
	signal := false
	// A signal handler returns to a trampoline's first byte, which may be the first
	// of its mapping.
	if !hit && f.caller && !s.modules.IsCode(f.AddressInBlock()) && !s.modules.IsCode(f.pc) {
		if f.unreadSignal(slot); f.winner < 0 {
			f.typ, f.claimReason, f.claimErr = Normal, NotCode, errNotCode // nothing can have called from there
		}
		return false
	}
	if hit {
		// The slot may be another PC's when inner frames were made meanwhile.
		row, winner := slot.row, int(slot.winner)
		if f.apply(&row, winner) {
			f.lookBack()
			return false
		}
		from, signal = winner+1, s.table.ofSignal(winner, &row)
	}
	q := f.query()
	before := s.search.total
	keep := !hit // the row, as the first that any frame at the PC could be unwound by
	for i := from; i < len(s.table.sniffers); i++ {
		row, answer := s.table.sniffers[i].Sniff(q)
		signal = signal || answer == SignalFrame
		if answer != Claimed || signal && !s.table.ofSignal(i, &row) {
			continue
		}
		if f.apart && keep && f.learn(slot, &row, i) {
			return true
		}
		if !f.apply(&row, i) {
			keep = keep && (row.CFA.Kind == trad.NotTracked || f.clobbered(&row))
			signal = signal || s.table.ofSignal(i, &row)
			continue
		}
		if row.Flags&trad.Guess != 0 && f.planted() {
			f.plant()
			return false
		}
		if f.endsAt(&row) && f.begins() {
			f.caller = false // what lies before is another function
			return f.ask()
		}
		if keep && row.Flags&trad.Once == 0 {
			rows.put(slot, s.table, &row, f.pc, f.caller, i)
			if rows.shared != nil && s.search.total > before {
				rows.shared.put(rows.generation, searched{f.pc, f.caller}, sharedRow{row, i})
			}
		}
		f.lookBack()
		return false
	}
	if signal && f.claimReason != Outermost {
		if !keep {
			slot = nil
		}
		f.sniffSignal(q, slot)
		return false
	}
	if f.claimErr == errNobody && s.search.denied {
		f.claimErr = errSearched
	}
	if !s.modules.IsCode(q.Block) {
		f.claimReason, f.claimErr = NotCode, errNotCode
	}
	switch {
	case f.claimReason == Outermost:
	case f.planted():
		f.plant()
	case f.chainEnds():
		f.claimReason, f.claimErr = Outermost, nil
	}
	return false
}

// learn keeps a row that [Walker.fast] can apply, which costs less than to apply it here. Where
// it does not lead to a caller, fast leaves THIS to slow once more.
func (f *Frame) learn(slot *rowSlot, row *trad.Row, by int) bool {
	t := f.stack.table
	if by > maxWinner || t.fastBits(row, by)&slotFast == 0 || row.Flags&trad.Guess != 0 {
		return false
	}
	if f.caller != f.stack.walk.Caller || f.endsAt(row) && !f.stack.query.mayBeCalled() {
		return false // fast knows nothing of functions that nobody has called
	}
	t.rows.put(slot, t, row, f.pc, f.caller, by)
	t.rows.stats.Hits-- // the look-up that is to come is this one once more
	return true
}

// endsAt reports whether a row that was looked up at PC-1 does not hold at PC.
func (f *Frame) endsAt(row *trad.Row) bool { return f.caller && row.Lo+uint64(row.Len) == f.pc }

// applyFast is apply and lookBack for a row that is as simple as nearly all are
// (slotFast), on a frame that leads to code. It leaves any other to them.
func (f *Frame) applyFast(slot *rowSlot) bool {
	if slot.bits&(slotFast|slotLast) != slotFast {
		return false
	}
	base, known := f.sp, f.spKnown
	if slot.bits&slotFP != 0 {
		base, known = f.fp.Bits, f.fp.Known()
	}
	if !known {
		return false
	}
	s := f.stack
	f.row, f.cfa = slot.row, slot.row.CFA.At(base)
	if f.cfa+uint64(s.arch.SPFromCFA) < f.sp {
		return false // inward: see leaves
	}
	f.winner, f.typ, f.wide = int16(slot.winner), Normal, false
	f.ra = f.wordAt(slot.row.RA.At(f.cfa))
	rows := &s.table.rows
	pc := s.arch.CodeAddress(f.ra.Bits)
	return f.ra.Known() && (rows.slots[slotOf(pc)].is(pc, rows.epoch, true) || f.returnsToCode())
}

// apply makes the sniffer at position i the one that unwinds THIS, if its row
// can be applied. An outermost row may have no CFA (SFrame's have none): it is
// left to a later sniffer to know one, but that there is no PREVIOUS is known.
func (f *Frame) apply(row *trad.Row, i int) bool {
	cfa, err := row.Apply((*env)(f))
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
	f.completion, f.values = nil, nil // of another row
	f.typ = Normal
	switch {
	case row.Flags&trad.Signal != 0:
		f.typ = SigTramp
	case row.Flags&trad.OtherStack != 0:
		f.typ = Arch
	}
	u, ok := f.stack.table.sniffers[i].(Unwinder)
	if f.wide = ok; ok {
		f.typ = u.Type()
	}
	return true
}

// clobbered reports whether a row leaves the return address in the link register
// although THIS has called since: the call has put its own there.
func (f *Frame) clobbered(row *trad.Row) bool {
	a := f.stack.arch
	return f.caller && a.RA != a.PC && row.RA.Kind == trad.Same && row.Flags&trad.Outermost == 0
}

// lookBack reads THIS frame's return address by the row that won. Where that is
// no code, the row may be wrong: assemblers for SFrame V1 write wrong rows for
// functions that keep the CFA or the return address in an odd register. A later
// sniffer that does find code knows better; guesses do not count, unless the row is one
// itself, and then it is nobody's claim if none finds code.
func (f *Frame) lookBack() {
	if f.stack.window.takeLate() {
		f.moved = true // the row, or the CFA
	}
	if f.row.Flags&trad.Outermost != 0 {
		return
	}
	s := f.stack
	if f.readRA(); f.typ != Normal || f.returnsToCode() {
		return
	}
	first := *f
	guess := first.row.Flags & trad.Guess
	q := f.query()
	for i := int(first.winner) + 1; i < len(s.table.sniffers); i++ {
		row, answer := s.table.sniffers[i].Sniff(q)
		if answer != Claimed || row.Flags&(trad.Guess|trad.Outermost)&^guess != 0 || !f.apply(&row, i) {
			continue
		}
		if f.readRA(); f.returnsToCode() {
			return
		}
	}
	switch *f = first; {
	case f.planted():
		f.plant()
	case guess != 0 && f.ra.Known() && s.arch.CodeAddress(f.ra.Bits) != 0:
		f.winner, f.typ, f.wide, f.row, f.cfa = -1, Normal, false, trad.Row{}, 0
		f.claimReason, f.claimErr = Unavailable, fmt.Errorf("%s: %w", s.table.sniffers[first.winner].Name(), errGuess)
	}
}

// readRA reads THIS frame's return address by its row, which tells whether THIS has changed
// stacks.
func (f *Frame) readRA() {
	pc := f.stack.arch.PC
	if f.ra = f.prevRegister(pc); f.leaves() {
		f.typ, f.left = Arch, true
	}
}

func (f *Frame) returnsToCode() bool {
	a := f.stack.arch
	pc := a.CodeAddress(f.ra.Bits)
	return f.ra.Known() && pc != 0 && (f.stack.modules.IsCode(pc-1) || f.stack.modules.IsCode(pc))
}
