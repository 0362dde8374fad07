package fromelf

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/format/breakpad"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// appendRanges appends the code of an entry to list, by address.
func (r *reader) appendRanges(list []breakpad.Range, low, high, ranges dwarfdata.Value) []breakpad.Range {
	from := len(list)
	like := r.d.opts.LikeDumpSyms
	if ranges.Class != dwarfdata.ClassNone {
		if like && !r.dumpSymsReads(ranges) {
			return list
		}
		var ok bool
		if list, ok = r.listed(list, ranges); !ok {
			r.warn(cut("list of ranges", ranges.N))
			return list[:from]
		}
		slices.SortStableFunc(list[from:], func(a, b breakpad.Range) int { return cmp.Compare(a.Address, b.Address) })
		return list
	}
	lo, ok := r.s.address(r.u, low)
	if !ok && !like {
		return list
	}
	hi, absolute := r.s.address(r.u, high)
	if !absolute {
		hi = high.N
		if high.Class != dwarfdata.ClassNone {
			hi += lo
		}
	}
	if hi > lo || like && hi == lo && lo != 0 {
		list = append(list, breakpad.Range{Address: lo, Size: hi - lo})
	}
	return list
}

// dumpSymsReads reports whether dump_syms reads a list of ranges: the form before DWARF 4, and
// lists of DWARF 5 without a section .debug_addr, it does not.
func (r *reader) dumpSymsReads(v dwarfdata.Value) bool {
	return v.Class != dwarfdata.ClassConstant && (r.u.Version < 5 || len(r.s.addr) > 0)
}

// listed appends a list of ranges.
func (r *reader) listed(list []breakpad.Range, v dwarfdata.Value) ([]breakpad.Range, bool) {
	s, u := r.s, r.u
	full := false
	add := func(lo, hi uint64) bool {
		if hi > lo || r.d.opts.LikeDumpSyms && hi == lo {
			list = append(list, breakpad.Range{Address: lo, Size: hi - lo})
		}
		full = r.d.rangesLeft.Add(-1) < 0
		return !full
	}
	section, off := s.rngLists, v.N
	switch old := u.Version < 5; {
	case old && v.Class == dwarfdata.ClassList:
		return list, false
	case old:
		if section = s.ranges; u.skeleton != nil {
			off += u.oldRanges
		}
	case v.Class == dwarfdata.ClassList:
		at, ok := s.indexed(section, u.rngLists, v.N, int(u.OffsetSize))
		if !ok {
			return list, false
		}
		off = u.rngLists + at
	}
	if off >= uint64(len(section)) {
		return list, false
	}
	c, err := dwarfdata.New(section[off:], s.order), error(nil)
	if u.Version < 5 {
		s.base(u).OldRanges(&c, add)
	} else {
		err = s.base(u).Ranges(&c, add)
	}
	return list, err == nil && !c.Bad && !full
}
