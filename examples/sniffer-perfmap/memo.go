package main

import (
	"hash/maphash"

	"github.com/sfwalk/sfwalk/trad"
)

// memo keeps what reading code has given, since much code is there more than once: V8's
// interpreter has a copy of the same for each function. Its zero value is empty.
type memo map[memoKey]memoRow

// memoKey is a question about code, wherever that is.
type memoKey struct {
	sum       uint64 // of the bytes
	size, off int    // of the code, and to the block
	form      form
	innermost bool
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
	key := memoKey{maphash.Bytes(seed, code), len(code), int(block - start), f, pc == block}
	x, ok := (*m)[key]
	if !ok {
		x.row, x.why = r.row(code, start, pc, block, f)
		x.row.Lo -= start
		if *m == nil || len(*m) >= maxMemo {
			*m = make(memo)
		}
		(*m)[key] = x
	}
	x.row.Lo += start
	return x.row, x.why
}
