package exidx

import (
	"encoding/binary"
	"iter"
	"sort"
)

const (
	entrySize  = 8
	cantUnwind = 1 // EXIDX_CANTUNWIND
)

// A Section is an index, .ARM.exidx, and the memory that its tables are in.
type Section struct {
	index []byte
	addr  uint32
	order binary.ByteOrder
	read  func(addr uint64, p []byte) (n int, err error)
}

// Open returns the section whose bytes are index, at address addr. order is the byte order of data:
// BE8 programs have big-endian tables beside little-endian code. read reads the memory in which the
// tables (.ARM.extab) are, by the same addresses; it returns how many bytes it has read. If read is
// nil, only inline entries can be unwound. Bytes of an incomplete last entry are left out. The
// error says that index is not sorted; it wraps [ErrMalformed].
func Open(index []byte, addr uint64, order binary.ByteOrder, read func(addr uint64, p []byte) (n int, err error)) (*Section, error) {
	s := &Section{index: index[:len(index)/entrySize*entrySize], addr: uint32(addr), order: order, read: read}
	if addr>>32 != 0 || uint64(len(index)) > 1<<32-addr {
		return nil, malformed("index", uint32(addr), "it does not lie in 32 bits")
	}
	for i, last := 0, uint32(0); i < s.Len(); i++ {
		at := s.function(i)
		if at < last {
			return nil, malformed("index", s.at(i), "it is not sorted")
		}
		last = at
	}
	return s, nil
}

// Len returns how many entries the index has.
func (s *Section) Len() int { return len(s.index) / entrySize }

// at returns the address of entry number i.
func (s *Section) at(i int) uint32 { return s.addr + uint32(i)*entrySize }

// function returns the address of the function of entry number i.
func (s *Section) function(i int) uint32 {
	return prel31(s.order.Uint32(s.index[i*entrySize:]), s.at(i)) &^ 1
}

// prel31 returns the address that a word at address at leads to: its lower 31 bits are the distance
// from the word (EHABI32, section 6.2).
func prel31(word, at uint32) uint32 { return at + uint32(int32(word<<1)>>1) }

// An Entry is an entry of the index (EHABI32, section 6.2).
type Entry struct {
	// Lo and Hi bound the code that the entry covers: from the function's first byte to the next
	// entry's function. Of the last entry, Hi is 1<<32: the index does not say where that ends.
	// Linkers merge equal entries of functions that follow one another, so Lo may be the beginning
	// of an earlier function.
	Lo, Hi uint64
	// CantUnwind says that the function cannot be unwound.
	CantUnwind bool
	// Inline says that the index has the instructions itself.
	Inline bool
	// Table is the address of the entry's table, 0 if it has none.
	Table uint32

	at, word uint32
}

// Entry returns entry number i, which must be less than Len.
func (s *Section) Entry(i int) Entry {
	e := Entry{Lo: uint64(s.function(i)), Hi: 1 << 32, at: s.at(i)}
	if i+1 < s.Len() {
		e.Hi = uint64(s.function(i + 1))
	}
	e.word = s.order.Uint32(s.index[i*entrySize+4:])
	switch {
	case e.word == cantUnwind:
		e.CantUnwind = true
	case e.word>>31 != 0:
		e.Inline = true
	default:
		e.Table = prel31(e.word, e.at+4)
	}
	return e
}

// Entries yields the entries in the index's order.
func (s *Section) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range s.Len() {
			if !yield(s.Entry(i)) {
				return
			}
		}
	}
}

// Find returns the entry that covers an address. The error is [ErrNotFound].
func (s *Section) Find(addr uint64) (Entry, error) {
	i := sort.Search(s.Len(), func(i int) bool { return uint64(s.function(i)) > addr })
	if i == 0 || addr>>32 != 0 {
		return Entry{}, ErrNotFound
	}
	return s.Entry(i - 1), nil
}
