package frame

import "github.com/sfwalk/sfwalk/trad"

// completion is a later sniffer's row for the frames at one PC: it has the registers
// that the winner's does not track. It is never changed.
type completion struct {
	pc     uint64
	caller bool
	winner int16 // whose row it completes
	row    trad.Row
	ok     bool
	misfit bool // not ok because rows see another frame: they may complete others at the PC
}

// complete returns the row that completes THIS frame's, nil if there is none.
func (f *Frame) complete() *trad.Row {
	if f.completion == nil && !f.completed() {
		if f.completion = f.completing(); !f.completion.misfit {
			*f.stack.table.rows.completion(f.pc) = f.completion
		}
	}
	if !f.completion.ok {
		return nil
	}
	return &f.completion.row
}

// completed reports whether the row that completes THIS is known, and takes it.
func (f *Frame) completed() bool {
	c := *f.stack.table.rows.completion(f.pc)
	if c == nil || c.pc != f.pc || c.caller != f.caller || c.winner != f.winner || !c.fits(f) {
		return false
	}
	f.completion = c
	return true
}

// fits reports whether the row sees the same frame as the winner's: agrees about the CFA.
func (c *completion) fits(f *Frame) bool {
	if !c.ok {
		return true
	}
	if c.row.CFA == f.row.CFA && c.row.CFA.Kind == trad.InReg {
		return true
	}
	cfa, err := c.row.Apply((*env)(f))
	return err == nil && cfa == f.cfa
}

// completing finds the first later sniffer that does not guess, tracks more than the
// winner, and sees the same frame.
func (f *Frame) completing() *completion {
	s := f.stack
	c := &completion{pc: f.pc, caller: f.caller, winner: f.winner}
	// An outer frame may be in the middle of its own query.
	defer func(outer Query) { s.query = outer }(s.query)
	var later claims
	for later.begin(f, int(f.winner)+1); later.next(); {
		if later.row.Flags&trad.Guess != 0 || later.row.Others == nil {
			continue
		}
		if c.row, c.ok, c.misfit = later.row, true, false; c.fits(f) {
			return c
		}
		c.ok, c.misfit = false, true
	}
	return c
}
