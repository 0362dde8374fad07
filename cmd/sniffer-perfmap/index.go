package main

import (
	"cmp"
	"slices"
)

// code is the range of a function's machine code, or of the part that later code has left, and the
// place of its record.
type code struct {
	lo, hi uint64 // [lo, hi)
	at     int64  // of the record, in the file
}

// index is code in ascending order, without overlaps.
type index []code

// find returns the code around an address.
func (x index) find(addr uint64) (c code, ok bool) {
	i := x.after(addr)
	if i == 0 || addr >= x[i-1].hi {
		return code{}, false
	}
	return x[i-1], true
}

// gap returns the range around an address that has no code in the index.
func (x index) gap(addr uint64) (lo, hi uint64) {
	i := x.after(addr)
	if hi = ^uint64(0); i < len(x) {
		hi = x[i].lo
	}
	if i > 0 {
		lo = x[i-1].hi
	}
	return lo, hi
}

// after returns the position of the first code that begins behind an address.
func (x index) after(addr uint64) int {
	i, _ := slices.BinarySearchFunc(x, addr, func(c code, addr uint64) int {
		if c.lo <= addr {
			return -1
		}
		return 1
	})
	return i
}

// flatten makes an index of records in the order in which they were written. Where they
// overlap the later one counts: a JIT frees code, and puts other code there. It changes
// the records.
func flatten(records []code) index {
	inOrder := func(a, b code) int { return cmp.Compare(a.lo, b.lo) }
	if slices.IsSortedFunc(records, inOrder) && !overlaps(records) {
		return slices.Clip(records)
	}
	half := len(records) / 2 // at least one: a single record is in order
	return overlay(flatten(records[:half]), flatten(records[half:]))
}

func overlaps(sorted []code) bool {
	for i := 1; i < len(sorted); i++ {
		if sorted[i].lo < sorted[i-1].hi {
			return true
		}
	}
	return false
}

// overlay merges two indices; where they overlap the newer one counts.
func overlay(old, newer index) index {
	if len(old) == 0 || len(newer) == 0 {
		return append(old, newer...)
	}
	merged := make(index, 0, len(old)+len(newer))
	for i := range old {
		rest := old[i]
		for len(newer) > 0 && newer[0].lo < rest.hi {
			n := newer[0]
			if rest.lo < n.lo {
				before := rest
				before.hi = n.lo
				merged = append(merged, before)
			}
			if rest.lo = max(rest.lo, n.hi); n.hi > rest.hi {
				break // it may reach over the next old one, too
			}
			merged, newer = append(merged, n), newer[1:]
		}
		if rest.lo < rest.hi {
			merged = append(merged, rest)
		}
	}
	return append(merged, newer...)
}
