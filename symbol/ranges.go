package symbol

import (
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// span is a range of code with the index of its unit or function.
type span = interval.Entry[int32]

// spanSize is the memory that a span takes up, with its place in the index and the room to sort, in
// bytes.
const spanSize = 48

// rangeSize is the memory that a range takes up in its list and in an index, in bytes.
const rangeSize = 2*16 + spanSize

// appendRanges adds the code of e, an entry of the unit u with the header h, to a list. It sets
// e.enters and e.entered. With an error other than errTooMuch it returns the list as before; with
// errTooMuch, there was no room for some of the code.
func (d *debugInfo) appendRanges(list [][2]uint64, u *unit, h *header, e *entry) ([][2]uint64, error) {
	e.enters, e.entered, e.crowded = nowhere, false, false
	if pc, ok := d.address(u, h, e.entryPC); ok && d.isCode(pc, pc+1) {
		e.enters = pc
	}
	left := &d.rangesLeft
	if e.asked {
		left = &d.scopesLeft
	}
	if err := d.spend(left, 1); err != nil {
		return list, err
	}
	if low, ok := d.address(u, h, e.low); ok {
		if high, ok := d.address(u, h, e.high); ok {
			list = d.appendCode(list, e, low, high)
		} else if e.high.class == classConstant {
			list = d.appendCode(list, e, low, low+e.high.n)
		}
	}
	at := e.ranges
	old := u.version < 5 || d.rangeLists == nil
	if at.class == classList && !old {
		size := uint64(u.offsetSize)
		b, err := d.rangeLists.bytes(h.rangeLists+at.n*size, h.rangeLists+(at.n+1)*size)
		if err != nil {
			return list, err
		}
		c := dwarfdata.New(b, d.order)
		at = value{h.rangeLists + c.Uint(int(size)), classOffset}
	}
	var n uint64
	var err error
	switch {
	case at.class == classOffset && !old:
		list, n, err = d.rangeList(list, u, h, e, at.n)
	case (at.class == classOffset || at.class == classConstant) && old:
		if d.skeleton != nil {
			at.n += d.skeleton.oldRanges
		}
		list, n, err = d.oldRangeList(list, u, h, e, at.n)
	}
	if e.crowded || d.spend(left, n) != nil {
		return list, errTooMuch
	}
	return list, err
}

// mayKeep takes n bytes for what is kept of an entry, and reports whether there was room.
func (d *debugInfo) mayKeep(e *entry, n int) bool {
	switch {
	case e.held != nil:
		return e.held.take(n) == nil
	case e.asked:
		return true
	}
	return d.take(n) == nil
}

// nowhere stands for no address.
const nowhere = ^uint64(0)

// appendCode adds a range of an entry if it is code of the module. An empty range can hold the entry
// PC as well: GCC writes one where an inlined call begins without an instruction of its own.
func (d *debugInfo) appendCode(list [][2]uint64, e *entry, lo, hi uint64) [][2]uint64 {
	if e.enters != nowhere && (e.enters == lo || e.enters > lo && e.enters < hi) {
		e.entered = true
	}
	switch {
	case !d.isCode(lo, hi):
	case d.mayKeep(e, rangeSize):
		list = append(list, [2]uint64{lo, hi})
	default:
		e.crowded = true
	}
	return list
}

// oldRangeList reads the list at off in .debug_ranges, DWARF 4 section 2.17.3. n is
// its size in bytes.
func (d *debugInfo) oldRangeList(list [][2]uint64, u *unit, h *header, e *entry, off uint64) (_ [][2]uint64, n uint64, err error) {
	size, before := int(u.addrSize), len(list)
	newBase := ^uint64(0) >> (64 - 8*size)
	n, err = d.oldRanges.scan(off, d.order, func(c *sectionReader) {
		list = list[:before]
		for base := h.base; ; {
			lo, hi := c.Uint(size), c.Uint(size)
			switch {
			case lo == 0 && hi == 0:
				return
			case lo == newBase:
				base = hi
			default:
				list = d.appendCode(list, e, base+lo, base+hi)
			}
		}
	})
	if err != nil {
		list = list[:before]
	}
	return list, n, err
}

// Entries of a range list, DWARF 5 table 7.30.
const (
	rleEnd          = 0
	rleBaseIndex    = 1
	rleStartEndx    = 2
	rleStartLengthx = 3
	rleOffsets      = 4
	rleBase         = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// rangeList reads the list at off in .debug_rnglists, DWARF 5 section 2.17.3. n is
// its size in bytes.
func (d *debugInfo) rangeList(list [][2]uint64, u *unit, h *header, e *entry, off uint64) (_ [][2]uint64, n uint64, err error) {
	size, before := int(u.addrSize), len(list)
	var wrong error
	n, err = d.rangeLists.scan(off, d.order, func(c *sectionReader) {
		list, wrong = list[:before], nil
		index := func() uint64 {
			i := c.ULEB128()
			addr, ok := d.address(u, h, value{i, classAddrIndex})
			if !ok && !c.Bad && wrong == nil {
				wrong = fmt.Errorf("list of ranges at %#x: no address of index %d", off, i)
			}
			return addr
		}
		for base := h.base; wrong == nil; {
			var lo, hi uint64
			switch kind := c.Uint(1); kind {
			case rleEnd:
				return
			case rleBaseIndex:
				base = index()
				continue
			case rleBase:
				base = c.Uint(size)
				continue
			case rleStartEndx:
				lo, hi = index(), index()
			case rleStartLengthx:
				lo = index()
				hi = lo + c.ULEB128()
			case rleOffsets:
				lo = base + c.ULEB128()
				hi = base + c.ULEB128()
			case rleStartEnd:
				lo, hi = c.Uint(size), c.Uint(size)
			case rleStartLength:
				lo = c.Uint(size)
				hi = lo + c.ULEB128()
			default:
				wrong = fmt.Errorf("list of ranges at %#x: entry of unknown kind %d", off, kind)
				return
			}
			list = d.appendCode(list, e, lo, hi)
		}
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		list = list[:before]
	}
	return list, n, err
}
