package elf

import (
	"bytes"
	"sync"
)

// stringTable has the names of a symbol table. It is safe for concurrent use.
type stringTable struct {
	all func() ([]byte, error) // reads the whole table; nil if that is of no use

	mu   sync.Mutex
	part part
	read int    // names
	buf  []byte // for the bytes of a name
}

// manyNames are so many that reading each of them takes longer than reading the whole table. A
// symbolic walk asks for less than a hundred.
const manyNames = 4096

func newStringTable(p part, all func() ([]byte, error)) *stringTable {
	return &stringTable{part: p, all: all}
}

// size returns the number of bytes.
func (t *stringTable) size() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return uint64(t.part.size)
}

// begin returns at most the first most bytes of the string at off, and its whole length. Both are 0
// if it cannot be read.
func (t *stringTable) begin(off uint32, most int) (text string, length int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if int64(off) >= t.part.size {
		return "", 0
	}
	if t.read++; t.read > manyNames && t.all != nil {
		if data, err := t.all(); err == nil {
			t.part = inMemory(data)
		}
		t.all = nil
	}
	if t.part.data != nil {
		b := t.part.data[off:]
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		return string(b[:min(most, len(b))]), len(b)
	}
	const usual, largest = 256, 128 << 10
	if t.buf == nil {
		t.buf = make([]byte, usual)
	}
	for {
		b := t.buf[:min(int64(len(t.buf)), t.part.size-int64(off)-int64(length))]
		n, _ := t.part.ReadAt(b, int64(off)+int64(length))
		end := bytes.IndexByte(b[:n], 0)
		if end < 0 && n < len(b) {
			return "", 0
		}
		got := end
		if end < 0 {
			got = n
		}
		text += string(b[:min(got, most-len(text))])
		length += got
		if end >= 0 || n < len(t.buf) {
			return text, length
		}
		if len(t.buf) < largest {
			t.buf = make([]byte, 2*len(t.buf))
		}
	}
}

// is reports whether the string at off is text. It reads no more of it than that.
func (t *stringTable) is(off uint32, text string) bool {
	p, n := t.now(), int64(len(text))
	last := int64(off)+n == p.size // the last string may have no end
	if !last {
		n++
	}
	b := p.bytes(int64(off), n)
	return b != nil && string(b[:len(text)]) == text && (last || b[len(text)] == 0)
}

// offsets returns the ascending offsets at which the table's bytes are begin, which is not empty.
// They may overlap.
func (t *stringTable) offsets(begin []byte) (list []uint32) {
	t.now().each(len(begin)-1, func(off int64, b []byte) bool {
		for at := 0; ; at++ {
			i := bytes.Index(b[at:], begin)
			if i < 0 {
				return true
			}
			at += i
			list = append(list, uint32(off)+uint32(at))
		}
	})
	return list
}

// offsetsOf is offsets for a whole name. Linkers let a name be the end of another one. So it looks
// at the ends of all strings, which is faster than a search for a name with a usual beginning.
func (t *stringTable) offsetsOf(name string) (list []uint32) {
	if name == "" {
		return nil
	}
	last, rest := name[len(name)-1], name[:len(name)-1]
	t.now().each(len(name), func(off int64, b []byte) bool {
		for at := 0; ; at++ {
			i := bytes.IndexByte(b[at:], 0)
			if i < 0 {
				return true
			}
			at += i
			if at >= len(name) && b[at-1] == last && string(b[at-len(name):at-1]) == rest {
				list = append(list, uint32(off)+uint32(at-len(name)))
			}
		}
	})
	return list
}

// now returns the table's bytes as they are read now.
func (t *stringTable) now() *part {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.part
	return &p
}
