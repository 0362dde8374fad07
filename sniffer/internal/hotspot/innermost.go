package hotspot

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/trad"
)

// A frame that is innermost, or was interrupted, may not be set up yet, or may have been taken
// down. Its code may also push and pop words as it goes. No table tells that. The code does, as far
// as it can be followed.

const (
	maxCode  = 64 << 10 // bytes of a blob's code that are read
	readOver = 32       // so many bytes that are read count as one instruction of a search
)

// codeOf reads a blob's code around q.PC.
func codeOf(q *frame.Query, b *vmstructs.Blob) (code []byte, start uint64) {
	start = b.Lo
	if q.PC-start > maxCode/2 {
		start = q.PC - maxCode/2
	}
	code = make([]byte, min(b.Hi-start, maxCode))
	n, _ := q.Memory.ReadMemory(start, code)
	q.CountSearched(n / readOver)
	return code[:n], start
}

// beginning returns the row of a frame that is not set up yet.
func beginning(q *frame.Query, b *vmstructs.Blob) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.ReadFrame == nil {
		return trad.Row{}, notSetUp
	}
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	code := make([]byte, min(uint64(b.Complete)+16, b.Hi-b.Lo, maxCode))
	n, _ := q.Memory.ReadMemory(b.Lo, code)
	row, steps, why := a.ReadFrame(code[:n], b.Lo, q.PC)
	if q.CountSearched(steps + n/readOver); why != "" || row.Flags&trad.Guess != 0 || row.RA.Kind == trad.NotTracked {
		return trad.Row{}, notSetUp
	}
	row.Flags |= trad.InPrologue
	return row, frame.Claimed
}

// body returns the row of a frame that may have been taken down, or of code that has pushed words.
// A way out, from PC to a return, says where the frame is. If there is none, row is right. But if
// straight code leads to a jump out of the blob, the frame may be set up or taken down, and body
// declines.
func body(q *frame.Query, b *vmstructs.Blob, row trad.Row) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.ReadAhead == nil {
		return trad.Row{}, notSetUp
	}
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	row.Lo, row.Len = q.PC, 1
	code, start := codeOf(q, b)
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
	out.Others = row.Others
	if after == 0 {
		return out, frame.Claimed
	}
	// A call may never return: the code behind it may be for another frame.
	switch ours, theirs := leads(q, &row), leads(q, &out); {
	case ours == theirs:
		out.Flags |= trad.Guess
	case ours:
		out = row
	}
	out.Flags |= trad.Once
	return out, frame.Claimed
}

// leads reports whether a row leads from THIS frame to a return address that follows a call.
func leads(q *frame.Query, row *trad.Row) bool {
	c, ok := q.Apply(row)
	if !ok || !q.Modules.IsCode(c.PC.Bits-1) {
		return false
	}
	follows, _ := q.FollowsCall(c.PC.Bits)
	return follows
}

// leads reports whether a row leads to a return address in the interpreter, or to one that follows
// a call: no call stands before the places to which the interpreter has methods return.
func (vm *machine) leads(q *frame.Query, r *vmstructs.Reader, row *trad.Row) bool {
	lo, n, ok := vm.code.Code(r)
	c, applied := q.Apply(row)
	return ok && applied && c.PC.Bits-1-lo < n || leads(q, row)
}

// callStub returns the row of the stub by which C++ has called Java. It takes the row from the
// stub's way out, which restores the registers of C++.
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

// maxEntry is how many bytes of code are read behind the call from C++ to Java.
const maxEntry = 1 << 10
