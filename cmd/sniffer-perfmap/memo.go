package main

import (
	"hash/maphash"
	"sync"

	"github.com/sfwalk/sfwalk/trad"
)

// memo keeps what reading code has given, since much code is there more than once: V8's
// interpreter has a copy of the same for each function. Its zero value is empty; it is
// safe for concurrent use.
type memo struct {
	mu   sync.Mutex
	rows map[memoKey]memoRow
}

// memoKey is a question about code, wherever that is.
type memoKey struct {
	sum       uint64 // of the bytes
	size, off int    // of the code, and to the block
	form      form
	innermost bool
	reader    *reader
}

// memoRow is what came of it; the row begins as many bytes behind the code's beginning.
type memoRow struct {
	row trad.Row
	why string
}

// maxMemo bounds a memo.
const maxMemo = 1 << 12

var seed = maphash.MakeSeed()

// row does what reader.row does.
func (m *memo) row(r *reader, code []byte, start, pc, block uint64, f form) (trad.Row, string) {
	key := memoKey{maphash.Bytes(seed, code), len(code), int(block - start), f, pc == block, r}
	m.mu.Lock()
	x, ok := m.rows[key]
	m.mu.Unlock()
	if !ok {
		x.row, x.why = r.row(code, start, pc, block, f)
		x.row.Lo -= start
		m.mu.Lock()
		if m.rows == nil || len(m.rows) >= maxMemo {
			m.rows = make(map[memoKey]memoRow)
		}
		m.rows[key] = x
		m.mu.Unlock()
	}
	x.row.Lo += start
	return x.row, x.why
}
