package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// maxRounding bounds by how much a function has rounded its stack pointer, in bytes.
	maxRounding = 4 << 10
	// maxRoundedStarts is how many places before PC are tried, a word apart: compilers at run time
	// do not keep to the alignment that others give functions.
	maxRoundedStarts = 2 * maxStarts
)

// byRounding finds the return address of a function that has rounded its stack pointer down, and
// keeps nowhere what it was. So does the code with which run-time systems enter the code that they
// make: it never returns. The function's beginning is one of the places before PC, and the CFA one
// of a few. Old return addresses may lie in between. A return address counts if the call before it
// may have led to THIS, and if the tables of that caller lead to a call of the caller. If several
// count, none does. The row is a guess.
func (s *Sniffer) byRounding(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	if a.ReadRounded == nil {
		return row, false
	}
	buffer := buffers.Get().(*[before + behind]byte)
	defer buffers.Put(buffer)
	code, lo := around(q, q.AddressInBlock, buffer)
	size := uint64(a.PtrSize)
	start := q.AddressInBlock &^ (size - 1)
	for range maxRoundedStarts {
		if start < lo || start-lo >= uint64(len(code)) || !q.CountSearched(0) {
			break
		}
		read := code[start-lo:]
		read = read[:min(uint64(len(read)), q.AddressInBlock-start+after)]
		least, align, steps := a.ReadRounded(read, start, q.AddressInBlock)
		q.CountSearched(steps)
		if align != 0 {
			q.CountSearched(len(read) / readOver)
		}
		start -= size
		if align > maxRounding || least.Flags&trad.Guess != 0 || least.RA.Kind != trad.Saved {
			continue
		}
		for more := uint64(0); more < uint64(align); more += size {
			r := least
			r.CFA.Off += int32(more)
			switch {
			case !s.calledOutward(q, &r):
			case row.Len == 0:
				row = r
				row.Flags |= trad.Guess
			case row.CFA != r.CFA:
				return trad.Row{}, false
			}
		}
	}
	return row, row.Len != 0
}

// calledOutward reports whether a row leads THIS to a caller that may have called it, and that was
// called itself, as its tables say.
func (s *Sniffer) calledOutward(q *frame.Query, row *trad.Row) bool {
	a := q.Arch
	cfa, ra, ok := s.fits(q, row)
	if !ok || !aligned(q, cfa) || !followsCall(q, ra) {
		return false
	}
	to, direct := q.CallTarget(ra)
	if direct && !q.MayHaveLedHere(ra) && !q.JumpsOn(to) {
		return false
	}
	there := callerAt(q, ra)
	for _, table := range s.Tables {
		outer, answer := table.Sniff(&there)
		switch {
		case answer != frame.Claimed:
			continue
		case outer.Flags&trad.Outermost != 0:
			return true
		case outer.CFA.Kind != trad.InReg || outer.CFA.Reg != a.SP || outer.RA.Kind != trad.Saved:
			return false // it takes registers that THIS may have changed
		}
		at := cfa + uint64(int64(a.SPFromCFA)+int64(outer.CFA.Off)+int64(outer.RA.Off))
		word, ok := q.Word(at)
		back := a.CodeAddress(word)
		if !ok || !followsCall(q, back) {
			return false
		}
		to, direct = q.CallTarget(back)
		lo, _, known := q.FunctionAt(ra - 1)
		return !direct || !known || to == lo || q.Modules.Find(to) != there.Module || isStub(q, to) || q.Passes(to)
	}
	return false
}
