package cfi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// index replaces the table of .eh_frame_hdr if there is none, as in static
// programs and for .debug_frame.
type index struct {
	entries []indexEntry // ascending by start, then end
	miss    error        // the error for a PC that no entry covers
}

type indexEntry struct {
	start, end uint64
	offset     uint32 // of the FDE in the section
}

// entrySize is the size of an indexEntry in bytes.
const entrySize = 24

// usualFDE is the size in bytes of an FDE in real programs, CIEs included.
const usualFDE = 40

// build reads all FDEs once. It leaves out FDEs that cannot be read. The error for a
// miss names the first of them.
func (x *index) build(s *Section) {
	var f FDE
	var broken error
	if s.room != nil && !s.room(int64(len(s.data))/usualFDE*entrySize) {
		x.miss = fmt.Errorf("%w; there is no room for an index", ErrNotFound)
		return
	}
	w := walk{s: s}
	x.entries = make([]indexEntry, 0, len(s.data)/usualFDE)
	for {
		more, err := w.next(&f)
		if !more {
			break
		}
		if err != nil {
			if broken == nil {
				broken = err
			}
			continue
		}
		if n := len(x.entries); n == cap(x.entries) && s.room != nil && !s.room(max(int64(n), 64)*entrySize/2) { // small FDEs
			broken = errors.New("there is no room for more")
			break
		}
		if f.Len > 0 {
			x.entries = append(x.entries, indexEntry{f.Start, f.Start + f.Len, uint32(f.Offset)})
		}
	}
	slices.SortFunc(x.entries, func(a, b indexEntry) int {
		switch {
		case a.start != b.start:
			return cmp.Compare(a.start, b.start)
		case a.end != b.end:
			return cmp.Compare(a.end, b.end)
		}
		return cmp.Compare(a.offset, b.offset)
	})
	x.miss = ErrNotFound
	if broken != nil {
		x.miss = fmt.Errorf("%w; the first that cannot be read: %w", ErrNotFound, broken)
	}
}

// position returns the number of FDEs that begin at or before pc.
func (x *index) position(pc uint64) int {
	i, j := 0, len(x.entries)
	for i < j {
		mid := int(uint(i+j) / 2)
		if x.entries[mid].start <= pc {
			i = mid + 1
		} else {
			j = mid
		}
	}
	return i
}

func (s *Section) searchIndex(pc uint64, f *FDE) error {
	s.once.Do(func() { s.index.build(s) })
	entries := s.index.entries
	i := s.index.position(pc)
	if i == 0 || pc >= entries[i-1].end {
		return s.index.miss
	}
	e, err := s.entryAt(int(entries[i-1].offset))
	if err != nil {
		return err
	}
	return s.parseFDE(e, f, false)
}
