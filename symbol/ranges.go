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
		} else if e.high.Class == dwarfdata.ClassConstant {
			list = d.appendCode(list, e, low, low+e.high.N)
		}
	}
	at := e.ranges
	old := u.Version < 5 || d.rangeLists == nil
	if at.Class == dwarfdata.ClassList && !old {
		size := uint64(u.OffsetSize)
		b, err := d.rangeLists.bytes(h.rangeLists+at.N*size, h.rangeLists+(at.N+1)*size)
		if err != nil {
			return list, err
		}
		c := dwarfdata.New(b, d.order)
		at = dwarfdata.Value{N: h.rangeLists + c.Uint(int(size)), Class: dwarfdata.ClassOffset}
	}
	var n uint64
	var err error
	switch {
	case at.Class == dwarfdata.ClassOffset && !old:
		list, n, err = d.rangeList(list, u, h, e, at.N, false)
	case (at.Class == dwarfdata.ClassOffset || at.Class == dwarfdata.ClassConstant) && old:
		if d.skeleton != nil {
			at.N += d.skeleton.oldRanges
		}
		list, n, err = d.rangeList(list, u, h, e, at.N, true)
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

// appendCode adds a range of an entry if it is code of the module. An empty range can hold the
// entry PC as well: GCC writes one where an inlined call begins without an instruction of its own.
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

// base returns what lists of a unit with the header h are relative to.
func (d *debugInfo) base(u *unit, h *header) dwarfdata.Base {
	return dwarfdata.Base{Encoding: u.Encoding, Addr: h.base, Index: func(i uint64) (uint64, bool) {
		return d.address(u, h, dwarfdata.Value{N: i, Class: dwarfdata.ClassAddrIndex})
	}}
}

// rangeList reads the list of an entry at off in .debug_rnglists, or in .debug_ranges if old is
// set. n is its size in bytes.
func (d *debugInfo) rangeList(list [][2]uint64, u *unit, h *header, e *entry, off uint64, old bool) (_ [][2]uint64, n uint64, err error) {
	before, s, base := len(list), d.rangeLists, d.base(u, h)
	if old {
		s = d.oldRanges
	}
	var wrong error
	n, err = s.scan(off, d.order, func(c *sectionReader) {
		list, wrong = list[:before], nil
		yield := func(lo, hi uint64) bool {
			list = d.appendCode(list, e, lo, hi)
			return true
		}
		if old {
			base.OldRanges(&c.Reader, yield)
		} else {
			wrong = base.Ranges(&c.Reader, yield)
		}
	})
	if err == nil && wrong != nil {
		err = fmt.Errorf("list of ranges at %#x: %w", off, wrong)
	}
	if err != nil {
		list = list[:before]
	}
	return list, n, err
}
