package frame

import "github.com/sfwalk/sfwalk/trad"

// Guesses compete by what speaks for them. Nothing but the memory of THIS frame decides, so that it
// is decided for each frame at a PC, also if the row was kept.

// contest has THIS frame's guess compete with the guesses of later sniffers. Another guess is
// better
//
//   - if its return address follows a call, and the first one's does not;
//   - if both find one frame record, to which the frame pointer points, and only the other one takes PREVIOUS's frame
//     pointer from there.
func (f *Frame) contest() {
	a := f.stack.arch
	called := f.mayReturn()
	if called && (f.row.FP.Kind != trad.Same || !f.atRecord()) {
		return
	}
	first := *f
	var c claims
	for c.begin(f, int(first.winner)+1); c.next(); {
		if c.row.Flags&(trad.Guess|trad.Outermost) != trad.Guess || !f.apply(&c.row, c.by) {
			continue
		}
		f.readReturnAddress()
		switch better := a.CodeAddress(f.ra.Bits); {
		case f.typ != Normal || !f.returnsToCode() || f.stack.query.OnStack(better) || !f.afterCall():
		case !called, f.cfa == first.cfa && f.ra.Bits == first.ra.Bits && f.row.FP.Kind != trad.Same:
			return
		}
	}
	*f = first
}

// atRecord reports whether the frame pointer points to a frame record that THIS, whose CFA is
// known, has at its outer end.
func (f *Frame) atRecord() bool {
	a := f.stack.arch
	return a.FrameRecord != 0 && !a.FrameRecordAnywhere && f.fp.Known() && f.cfa == a.Wrap(f.fp.Bits+uint64(a.FrameRecord))
}

// mayReturn reports whether THIS may return to its return address.
func (f *Frame) mayReturn() bool {
	q := f.query()
	pc := f.stack.arch.CodeAddress(f.ra.Bits)
	return !q.OnStack(pc) && q.MayReturnTo(pc)
}

// lostContest returns why a guess lost that leads to code.
func (f *Frame) lostContest(row *trad.Row) (why Answer, ok bool) {
	c, ok := f.stack.query.Apply(row)
	if !ok || row.Flags&trad.Guess == 0 || f.row.Flags&trad.Guess == 0 {
		return why, false
	}
	q := f.query()
	switch pc := c.PC.Bits; {
	case !q.Modules.IsCode(pc-1) && !q.Modules.IsCode(pc):
		return why, false
	case q.OnStack(pc) || !q.MayReturnTo(pc):
		return lostUncalled, true
	}
	return lostFP, true
}
