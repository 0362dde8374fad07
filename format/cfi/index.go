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
	entries []indexEntry // ascending by start, each start once
	miss    error        // the error for a PC that no entry covers
}

// indexEntry has two numbers in 12 bytes.
type indexEntry struct {
	high, low uint32 // the halves of the start of code
	offset    uint32 // of the FDE in the section
}

func (e *indexEntry) start() uint64 { return uint64(e.high)<<32 | uint64(e.low) }

// entrySize is the size of an indexEntry in bytes.
const entrySize = 12

// usualFDE is the size in bytes of an FDE in real programs, CIEs included.
const usualFDE = 40

// build reads all FDEs once. It leaves out FDEs that cannot be read. The error for a
// miss names the first of them.
func (x *index) build(s *Section) {
	if s.room != nil && !s.room(int64(s.size)/usualFDE*entrySize) {
		x.miss = fmt.Errorf("%w; there is no room for an index", ErrNotFound)
		return
	}
	var broken error
	x.entries = make([]indexEntry, 0, s.size/usualFDE)
	for scan := newScan(s); ; {
		start, offset, more, err := scan.next()
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
		x.entries = append(x.entries, indexEntry{uint32(start >> 32), uint32(start), uint32(offset)})
	}
	x.entries = inOrder(x.entries, 0)
	x.longest(s)
	x.miss = ErrNotFound
	if broken != nil {
		x.miss = fmt.Errorf("%w; the first that cannot be read: %w", ErrNotFound, broken)
	}
}

// compare orders entries by start, those with the same start by offset.
func (e indexEntry) compare(other indexEntry) int {
	if c := cmp.Compare(e.start(), other.start()); c != 0 {
		return c
	}
	return cmp.Compare(e.offset, other.offset)
}

// inOrder sorts a list, and may use its memory. Linkers write the FDEs of one object after the
// other, and each object has its code in several sections, hot and cold. So nearly all lists are a
// few ascending ones, mixed: inOrder takes them out one after the other. level is how many are out.
func inOrder(list []indexEntry, level int) []indexEntry {
	const sections = 4
	if level == sections {
		slices.SortFunc(list, indexEntry.compare)
		return list
	}
	var rest []indexEntry
	kept := list[:0]
	for _, e := range list {
		if len(kept) == 0 || e.compare(kept[len(kept)-1]) >= 0 {
			kept = append(kept, e)
		} else {
			rest = append(rest, e)
		}
	}
	if len(rest) == 0 {
		return list
	}
	rest = inOrder(rest, level+1)
	// The two are merged from behind, where list has room.
	i, j := len(kept), len(rest)
	for at := len(list); j > 0; {
		at--
		if i > 0 && list[i-1].compare(rest[j-1]) > 0 {
			i--
			list[at] = list[i]
		} else {
			j--
			list[at] = rest[j]
		}
	}
	return list
}

// longest leaves one of several FDEs that start at the same address: that with the most code, the
// last one of these.
func (x *index) longest(s *Section) {
	most := uint64(0) // code of the last FDE that is left, if it had to be read; else 0
	length := func(e indexEntry) uint64 {
		var f FDE
		if s.fdeAt(e, &f) != nil {
			return 0
		}
		return f.Len
	}
	list := x.entries[:0]
	for _, e := range x.entries {
		last := len(list) - 1
		if last < 0 || list[last].start() != e.start() {
			list, most = append(list, e), 0
			continue
		}
		if most == 0 {
			most = length(list[last])
		}
		if n := length(e); n >= most {
			list[last], most = e, n
		}
	}
	x.entries = list
}

// position returns the number of FDEs that begin at or before pc.
func (x *index) position(pc uint64) int {
	i, j := 0, len(x.entries)
	for i < j {
		mid := int(uint(i+j) / 2)
		if x.entries[mid].start() <= pc {
			i = mid + 1
		} else {
			j = mid
		}
	}
	return i
}

func (s *Section) fdeAt(e indexEntry, f *FDE) error {
	head, err := s.entryAt(int(e.offset))
	if err != nil {
		return err
	}
	return s.parseFDE(head, f, false)
}

// searchIndex reads the last FDE that starts at or before pc.
func (s *Section) searchIndex(pc uint64, f *FDE) error {
	s.once.Do(func() { s.index.build(s) })
	i := s.index.position(pc)
	if i == 0 {
		return s.index.miss
	}
	if err := s.fdeAt(s.index.entries[i-1], f); err != nil {
		return err
	}
	if !f.Contains(pc) {
		return s.index.miss
	}
	return nil
}
