package hotspot

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// The innermost frame, or one that was interrupted, may not be set up yet, or no longer, and code
// may push and pop words as it goes. No table tells: the code does, as far as it can be followed.

const (
	maxCode  = 64 << 10 // of a blob that is looked at
	readOver = 32       // bytes that are read count for an instruction that is followed
)

// code reads a blob's code around q.PC.
func (b *blob) code(q *frame.Query) (code []byte, start uint64) {
	start = b.lo
	if q.PC-start > maxCode/2 {
		start = q.PC - maxCode/2
	}
	code = make([]byte, min(b.hi-start, maxCode))
	n, _ := q.Memory.ReadMemory(start, code)
	q.CountSearched(n / readOver)
	return code[:n], start
}

// beginning returns the row of a frame that is not set up yet.
func beginning(q *frame.Query, b *blob) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.ReadFrame == nil {
		return trad.Row{}, notSetUp
	}
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	code := make([]byte, min(uint64(b.complete)+16, b.hi-b.lo, maxCode))
	n, _ := q.Memory.ReadMemory(b.lo, code)
	row, steps, why := a.ReadFrame(code[:n], b.lo, q.PC)
	if q.CountSearched(steps + n/readOver); why != "" || row.Flags&trad.Guess != 0 || row.RA.Kind == trad.NotTracked {
		return trad.Row{}, notSetUp
	}
	row.Flags |= trad.InPrologue
	return row, frame.Claimed
}

// body returns the row of a frame that may have been taken down, or of code that has pushed
// something: a way out that leads from PC to a return says where the frame is. Where none does, the
// frame is as row has it. Where straight code leads to a jump out of the blob, it may be either.
func body(q *frame.Query, b *blob, row trad.Row) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.ReadAhead == nil {
		return trad.Row{}, notSetUp
	}
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	row.Lo, row.Len = q.PC, 1
	code, start := b.code(q)
	out, after, left := trad.Row{}, 0, false
	steps := a.ReadAhead(code, start, q.PC, nil, func(way trad.Row, calls int) bool {
		switch {
		case way.Flags&trad.Outermost != 0:
			return true
		case way.Flags&trad.Guess != 0:
			left = left || calls == 0
			return true
		}
		out, after = way, calls
		return false
	})
	q.CountSearched(steps)
	switch {
	case out.Len == 0 && left:
		return trad.Row{}, notSetUp
	case out.Len == 0 || out.CFA == row.CFA:
		return row, frame.Claimed
	}
	out.Others = lost
	if after == 0 {
		return out, frame.Claimed
	}
	// Not every call comes back: what lies behind it may be of another frame.
	switch ours, theirs := leads(q, &row), leads(q, &out); {
	case ours == theirs:
		out.Flags |= trad.Guess
	case ours:
		out = row
	}
	out.Flags |= trad.Once
	return out, frame.Claimed
}

// leads reports whether a row leads from THIS frame to what follows a call.
func leads(q *frame.Query, row *trad.Row) bool {
	c, ok := q.Apply(row)
	if !ok || !q.Modules.IsCode(c.PC.Bits-1) {
		return false
	}
	code := q.Read(c.PC.Bits-arch.MaxCall, arch.MaxCall)
	return len(code) == arch.MaxCall && q.Arch.AfterCall != nil && q.Arch.AfterCall(code)
}

// callStub returns the row of the frame from which C++ has called Java, by its way out: that restores
// what C++ has in registers.
func callStub(q *frame.Query) (row trad.Row, why frame.Answer) {
	a := q.Arch
	switch {
	case a.ReadAhead == nil:
		return row, notSetUp
	case !q.MaySearch():
		return row, noEffort
	}
	code := make([]byte, maxEntry)
	n, _ := q.Memory.ReadMemory(q.PC, code)
	if row, _ = wayOut(q, code[:n], q.PC, q.PC); row.Len == 0 {
		return row, notSetUp
	}
	return row, frame.Claimed
}

// maxEntry is how much code is looked at behind the call from C++ to Java.
const maxEntry = 1 << 10
