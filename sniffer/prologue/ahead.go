package prologue

import (
	"sync"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// before and behind are how many bytes of code before and behind PC are searched for ways out
	// of a function. The code before PC counts because loops lead back there.
	before = 16 << 10
	behind = 48 << 10
	page   = 4 << 10
	// wayOut is how many bytes of code are read at the target of a jump that leads further away.
	wayOut = 1 << 10
	// readTogether is how many bytes that are read at once count as one instruction.
	readTogether = 128
	// maxWays is how many ways out are checked against the stack.
	maxWays = 16
)

// ahead finds a row by the code from PC on. Every way out of a function undoes the same frame.
// Control can take a way only if the return address that the way finds on the stack follows a call.
// The row is certain if no call on the way must return first. It is also certain if the function
// that was called before the return address, read from its beginning, gives the same CFA and return
// address. Any other row is marked as a guess. last is the row of a THIS that ends the thread, and
// that no call has led to. other is a guess that leads to another stack (see fromMemory).
func (s *Sniffer) ahead(q *frame.Query) (row, last, other trad.Row) {
	a := q.Arch
	if a.ReadAhead == nil {
		return row, last, other
	}
	buffer := buffers.Get().(*[before + behind]byte)
	defer buffers.Put(buffer)
	code, start := around(q, q.PC, buffer)
	ways := 0
	away := func(addr uint64) ([]byte, uint64) { return apart(q, addr) }
	steps := a.ReadAhead(code, start, q.PC, away, func(way trad.Row, calls int) bool {
		if ways++; ways > maxWays {
			return false
		}
		if way.Flags&trad.Outermost != 0 {
			last = way
			return true
		}
		cfa, ra, ok := s.fits(q, &way)
		if !ok {
			if calls == 0 && other.Len == 0 {
				if row, ok := fromMemory(q, &way); ok {
					other = row
				}
			}
			return true
		}
		if a.RAOffset != 0 && way.RA.Kind != trad.Saved && !followsCall(q, ra) && (!q.FunctionBegins(ra) || calledAtTop(q)) {
			return true // a jump to a function, and no return to one that is to begin on a new stack
		}
		if entry, is := entered(q, ra); is {
			if sure, is := from(q, entry); is {
				if at, to, ok := s.fits(q, &sure); ok && at == cfa && to == ra {
					row = sure
					return false
				}
			}
		}
		if row.Len != 0 {
			return true // the first row is the best guess, unless another one is certain
		}
		row = way
		if calls == 0 && q.Innermost() && row.Flags&trad.Guess == 0 && q.MayReturnTo(ra) {
			return false
		}
		row.Flags |= trad.Guess
		return !aligned(q, cfa)
	})
	q.CountSearched(steps)
	return row, last, other
}

// calledAtTop reports whether the word at SP is the return address of a call.
func calledAtTop(q *frame.Query) bool {
	sp := q.This.Register(q.Arch.SP)
	top, ok := q.Word(sp.Bits)
	return sp.Known() && ok && followsCall(q, q.Arch.CodeAddress(top))
}

// apart reads the code at addr, the target of a jump. Such code is short, and many functions share
// it as their way out.
func apart(q *frame.Query, addr uint64) (code []byte, start uint64) {
	if !q.Modules.IsCode(addr) || !q.CountSearched(wayOut/readTogether) {
		return nil, 0
	}
	code = make([]byte, wayOut)
	n, _ := q.Memory.ReadMemory(addr, code)
	return code[:n], addr
}

// buffers have room for the code around an address.
var buffers = sync.Pool{New: func() any { return new([before + behind]byte) }}

// around reads the code around an address into a buffer.
func around(q *frame.Query, pc uint64, buffer *[before + behind]byte) (code []byte, start uint64) {
	code = buffer[:]
	at := pc &^ (page - 1)
	start = at
	// Read backwards page by page, because the first page may not be there.
	for pc-start < before-page && start >= page && q.Modules.IsCode(start-1) {
		if n, _ := q.Memory.ReadMemory(start-page, code[:page]); n < page {
			break
		}
		start -= page
	}
	n := min(uint64(len(code)), q.Modules.CodeEnd(pc)-start)
	got, _ := q.Memory.ReadMemory(start, code[:n])
	q.CountSearched(len(code) / readTogether)
	return code[:got], start
}
