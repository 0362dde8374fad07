package frame

import "github.com/sfwalk/sfwalk/trad"

// laterRow is the row of a sniffer later in the table than the winner, for the frames at one PC.
// It has rules for registers that the winner's row does not track. It is never changed.
type laterRow struct {
	pc         uint64
	caller     bool
	winner     int16 // position of the sniffer whose row this one completes
	row        trad.Row
	ok         bool
	otherFrame bool // not ok, because the later rows describe another frame than THIS; they may complete others at the PC
}

// laterRow returns the row that completes THIS frame's, nil if there is none.
func (f *Frame) laterRow() *trad.Row {
	if f.later == nil && !f.takeLaterRow() {
		if f.later = f.findLaterRow(); !f.later.otherFrame {
			*f.stack.table.rows.laterRow(f.pc) = f.later
		}
	}
	if !f.later.ok {
		return nil
	}
	return &f.later.row
}

// takeLaterRow takes the row that completes THIS from the cache, and reports whether it was there.
func (f *Frame) takeLaterRow() bool {
	c := *f.stack.table.rows.laterRow(f.pc)
	if c == nil || c.pc != f.pc || c.caller != f.caller || c.winner != f.winner || !c.sameFrame(f) {
		return false
	}
	f.later = c
	return true
}

// sameFrame reports whether the row describes the same frame as the winner's: it gives the same
// CFA. If no row was found, that holds for every frame at the PC.
func (c *laterRow) sameFrame(f *Frame) bool {
	if !c.ok {
		return true
	}
	if c.row.CFA == f.row.CFA && c.row.CFA.Kind == trad.InReg {
		return true
	}
	cfa, err := f.cfaBy(&c.row)
	return err == nil && cfa == f.cfa
}

// findLaterRow asks the later sniffers. The first row counts that is no guess, tracks more
// registers, and gives the same CFA.
func (f *Frame) findLaterRow() *laterRow {
	s := f.stack
	c := &laterRow{pc: f.pc, caller: f.caller, winner: f.winner}
	// An outer frame may be in the middle of its own query.
	defer func(outer Query) {
		s.query = outer
		s.settleSlots(f)
	}(s.query)
	var later claims
	for later.begin(f, int(f.winner)+1); later.next(); {
		if later.row.Flags&trad.Guess != 0 || later.row.Others == nil {
			continue
		}
		if c.row, c.ok, c.otherFrame = later.row, true, false; c.sameFrame(f) {
			return c
		}
		c.ok, c.otherFrame = false, true
	}
	return c
}
