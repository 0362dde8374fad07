package main

import (
	"hash/maphash"
	"sync"

	"github.com/sfwalk/sfwalk/trad"
)

// memo keeps the rows of code that was read: processes have the same code many times. V8's
// interpreter has a copy for each function. The zero value is empty. A memo is safe for concurrent
// use.
type memo struct {
	mu   sync.Mutex
	rows map[memoKey]memoRow
}

// memoKey is a question about code at any address.
type memoKey struct {
	sum       uint64 // of the bytes
	size, off int    // of the code, and to the block
	form      form
	innermost bool
	reader    *reader
}

// memoRow is the answer. The row's Lo is relative to the function's entry.
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
