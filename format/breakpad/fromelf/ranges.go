package fromelf

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/format/breakpad"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// Kinds of entries in .debug_rnglists, DWARF 5 section 7.25.
const (
	rleEndOfList    = 0
	rleBaseAddressx = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBaseAddress  = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// appendRanges appends the code of an entry to list, by address.
func (r *reader) appendRanges(list []breakpad.Range, low, high, ranges value) []breakpad.Range {
	from := len(list)
	like := r.d.opts.LikeDumpSyms
	if ranges.class != classNone {
		if like && !r.dumpSymsReads(ranges) {
			return list
		}
		var ok bool
		if list, ok = r.listed(list, ranges); !ok {
			r.warn(cut("list of ranges", ranges.n))
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
		hi = high.n
		if high.class != classNone {
			hi += lo
		}
	}
	if hi > lo || like && hi == lo && lo != 0 {
		list = append(list, breakpad.Range{Address: lo, Size: hi - lo})
	}
	return list
}

// dumpSymsReads reports whether dump_syms reads a list of ranges: the form before DWARF 4, and lists of DWARF 5 without a
// section .debug_addr, it does not.
func (r *reader) dumpSymsReads(v value) bool {
	return v.class != classConstant && (r.u.version < 5 || len(r.s.addr) > 0)
}

// listed appends a list of ranges.
func (r *reader) listed(list []breakpad.Range, v value) ([]breakpad.Range, bool) {
	s, u := r.s, r.u
	size := int(u.addrSize)
	base := u.low
	add := func(lo, hi uint64) bool {
		if hi > lo || r.d.opts.LikeDumpSyms && hi == lo {
			list = append(list, breakpad.Range{Address: lo, Size: hi - lo})
		}
		return r.d.rangesLeft.Add(-1) >= 0
	}
	if u.version < 5 {
		off := v.n
		if u.skeleton != nil {
			off += u.oldRanges
		}
		if v.class == classList || off >= uint64(len(s.ranges)) {
			return list, false
		}
		c := dwarfdata.New(s.ranges[off:], s.order)
		highest := ^uint64(0) >> (64 - 8*size)
		for {
			lo, hi := c.Uint(size), c.Uint(size)
			switch {
			case c.Bad:
				return list, false
			case lo == 0 && hi == 0:
				return list, true
			case lo == highest:
				base = hi
			case !add(lo+base, hi+base):
				return list, false
			}
		}
	}
	off := v.n
	if v.class == classList {
		at, ok := s.indexed(s.rngLists, u.rngLists, v.n, int(u.offsetSize))
		if !ok {
			return list, false
		}
		off = u.rngLists + at
	}
	if off >= uint64(len(s.rngLists)) {
		return list, false
	}
	c := dwarfdata.New(s.rngLists[off:], s.order)
	index := func() uint64 {
		addr, ok := s.indexed(s.addr, u.addrBase, c.ULEB128(), size)
		c.Bad = c.Bad || !ok
		return addr
	}
	for {
		lo, hi, found := uint64(0), uint64(0), true
		switch c.U8() {
		case rleEndOfList:
			return list, !c.Bad
		case rleBaseAddressx:
			base, found = index(), false
		case rleBaseAddress:
			base, found = c.Uint(size), false
		case rleStartxEndx:
			lo = index()
			hi = index()
		case rleStartxLength:
			lo = index()
			hi = lo + c.ULEB128()
		case rleOffsetPair:
			lo = base + c.ULEB128()
			hi = base + c.ULEB128()
		case rleStartEnd:
			lo = c.Uint(size)
			hi = c.Uint(size)
		case rleStartLength:
			lo = c.Uint(size)
			hi = lo + c.ULEB128()
		default:
			return list, false
		}
		if c.Bad || found && !add(lo, hi) {
			return list, false
		}
	}
}
