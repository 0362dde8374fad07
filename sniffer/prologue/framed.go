package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// byFrame answers if the code from PC on finds its frame by the frame pointer, and the frame
// pointer points to a frame record whose return address follows a call. Any other guess is the
// worse one then: what it finds inward of the record are words of THIS frame, in which old return
// addresses lie. The row is a guess: code may use the frame of another function, which it belongs
// to.
func (s *Sniffer) byFrame(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	size := int32(a.PtrSize)
	fp, sp := q.This.Register(a.FP), q.This.Register(a.SP)
	if a.FindsFrame == nil || !fp.Known() || !sp.Known() || fp.Bits%uint64(size) != 0 || a.InnerThan(fp.Bits, sp.Bits) {
		return row, false
	}
	row = trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Guess,
		CFA: trad.Rule{Kind: trad.InReg, Reg: a.FP, Off: a.FrameRecord},
		RA:  trad.Rule{Kind: trad.Saved, Off: size - a.FrameRecord},
		FP:  trad.Rule{Kind: trad.Saved, Off: -a.FrameRecord},
	}
	if _, _, ok = s.fits(q, &row); !ok {
		return row, false
	}
	buffer := buffers.Get().(*[before + behind]byte)
	defer buffers.Put(buffer)
	code, start := around(q, q.PC, buffer)
	finds, steps := a.FindsFrame(code, start, q.PC, func(addr uint64) ([]byte, uint64) { return apart(q, addr) })
	q.CountSearched(steps)
	return row, finds
}

// refined returns the first of the other guesses (only a guess whose Len is not 0 counts) that has
// the caller and the frame pointer of the frame record, or else the record's own row. A function
// that has aligned its stack keeps a copy of its return address in the record: the CFA lies further
// out, and its code knows where.
func refined(q *frame.Query, framed trad.Row, guesses []trad.Row) trad.Row {
	want, ok := q.Apply(&framed)
	if !ok || !want.FP.Known() {
		return framed
	}
	for i := range guesses {
		if guesses[i].Len == 0 {
			continue
		}
		c, ok := q.Apply(&guesses[i])
		if ok && c.PC.Bits == want.PC.Bits && c.FP.Known() && c.FP.Bits == want.FP.Bits {
			return guesses[i]
		}
	}
	return framed
}
