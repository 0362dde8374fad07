package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// before and behind bound the code around PC in which ways out of a function are
	// looked for: loops lead back.
	before = 16 << 10
	behind = 48 << 10
	page   = 4 << 10
	// wayOut is how much code is read where a jump leads that is not around PC.
	wayOut = 1 << 10
	// readTogether is how many bytes count for an instruction that are read at once.
	readTogether = 128
	// maxWays is how many ways out are held against the stack.
	maxWays = 16
)

// ahead finds a row by the code from PC on. Every way out of a function undoes the same
// frame; that it is a way that control can take shows in the stack, where it must find
// what follows a call. The row is certain where no call must come back on the way, or
// where the function that was called there, read from its beginning, says the same; else
// it is marked as a guess. last is the row for a thread that ends with THIS, which has not
// been called.
func (s *Sniffer) ahead(q *frame.Query) (row, last trad.Row) {
	a := q.Arch
	if a.ReadAhead == nil {
		return row, last
	}
	code, start := around(q, q.PC)
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
			return true
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
			return true // the first is the best guess, unless another is certain
		}
		row = way
		if calls == 0 && q.Innermost() && row.Flags&trad.Guess == 0 && returnsTo(q, ra) {
			return false
		}
		row.Flags |= trad.Guess
		return !aligned(q, cfa)
	})
	q.CountSearched(steps)
	return row, last
}

// apart reads the code that a jump leads to, the one way out of many functions: it is short.
func apart(q *frame.Query, addr uint64) (code []byte, start uint64) {
	if !q.Modules.IsCode(addr) || !q.CountSearched(wayOut/readTogether) {
		return nil, 0
	}
	code = make([]byte, wayOut)
	n, _ := q.Memory.ReadMemory(addr, code)
	return code[:n], addr
}

// around reads the code around an address.
func around(q *frame.Query, pc uint64) (code []byte, start uint64) {
	code = make([]byte, before+behind)
	at := pc &^ (page - 1)
	start = at
	// Backwards page by page, for the first may not be there.
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
