package symbol

import (
	"bytes"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// located returns the expression of an attribute at a link-time address: the attribute's own, or that of
// its list (DWARF 5, section 2.6.2). It is nil if there is none.
func (d *debugInfo) located(u *unit, v value, addr uint64) ([]byte, error) {
	h := u.head
	switch {
	case v.class == classBlock:
		lo, hi := v.blockAt()
		code, err := d.info.bytes(lo, hi)
		return bytes.Clone(code), err
	case v.class == classList && u.version >= 5:
		size := uint64(u.offsetSize)
		b, err := d.locLists.bytes(h.locLists+v.n*size, h.locLists+(v.n+1)*size)
		if err != nil {
			return nil, err
		}
		c := dwarfdata.New(b, d.order)
		return d.locList(u, h.locLists+c.Uint(int(size)), addr)
	case v.class == classOffset && u.version >= 5:
		return d.locList(u, v.n, addr)
	case (v.class == classOffset || v.class == classConstant) && u.version < 5:
		if d.skeleton != nil {
			return d.splitLocList(u, v.n, addr)
		}
		return d.oldLocList(u, v.n, addr)
	}
	return nil, nil
}

// Entries of a location list, DWARF 5 table 7.10.
const (
	lleEnd          = 0
	lleBaseIndex    = 1
	lleStartEndx    = 2
	lleStartLengthx = 3
	lleOffsets      = 4
	lleDefault      = 5
	lleBase         = 6
	lleStartEnd     = 7
	lleStartLength  = 8
)

// locList reads the list at off in .debug_loclists.
func (d *debugInfo) locList(u *unit, off, addr uint64) (code []byte, err error) {
	var wrong error
	n, err := d.locLists.scan(off, d.order, func(c *sectionReader) {
		code, wrong = nil, nil
		var otherwise []byte
		index := func() uint64 {
			i := c.ULEB128()
			a, ok := d.address(u, u.head, value{i, classAddrIndex})
			if !ok && !c.Bad && wrong == nil {
				wrong = fmt.Errorf("list of locations at %#x: no address of index %d", off, i)
			}
			return a
		}
		size := int(u.addrSize)
		for base := u.head.base; wrong == nil && !c.Bad; {
			var lo, hi uint64
			kind := c.Uint(1)
			switch kind {
			case lleEnd:
				code = otherwise
				return
			case lleBaseIndex:
				base = index()
				continue
			case lleBase:
				base = c.Uint(size)
				continue
			case lleStartEndx:
				lo, hi = index(), index()
			case lleStartLengthx:
				lo = index()
				hi = lo + c.ULEB128()
			case lleOffsets:
				lo = base + c.ULEB128()
				hi = base + c.ULEB128()
			case lleDefault:
			case lleStartEnd:
				lo, hi = c.Uint(size), c.Uint(size)
			case lleStartLength:
				lo = c.Uint(size)
				hi = lo + c.ULEB128()
			default:
				wrong = fmt.Errorf("list of locations at %#x: entry of unknown kind %d", off, kind)
				return
			}
			block := c.Take(c.ULEB128())
			switch {
			case c.Bad:
			case kind == lleDefault:
				otherwise = bytes.Clone(block)
			case addr >= lo && addr < hi:
				code = bytes.Clone(block)
				return
			}
		}
	})
	return d.readList(code, n, err, wrong)
}

// oldLocList reads the list at off in .debug_loc, DWARF 4 section 2.6.2.
func (d *debugInfo) oldLocList(u *unit, off, addr uint64) (code []byte, err error) {
	size := int(u.addrSize)
	newBase := ^uint64(0) >> (64 - 8*size)
	n, err := d.oldLocs.scan(off, d.order, func(c *sectionReader) {
		code = nil
		for base := u.head.base; !c.Bad; {
			lo, hi := c.Uint(size), c.Uint(size)
			switch {
			case lo == 0 && hi == 0:
				return
			case lo == newBase:
				base = hi
				continue
			}
			if block := c.Take(c.Uint(2)); !c.Bad && addr >= base+lo && addr < base+hi {
				code = bytes.Clone(block)
				return
			}
		}
	})
	return d.readList(code, n, err, nil)
}

// splitLocList reads the list at off in the .debug_loc of split DWARF 4
// (https://gcc.gnu.org/wiki/DebugFission).
func (d *debugInfo) splitLocList(u *unit, off, addr uint64) (code []byte, err error) {
	var wrong error
	n, err := d.oldLocs.scan(off, d.order, func(c *sectionReader) {
		code, wrong = nil, nil
		index := func() uint64 {
			a, _ := d.address(u, u.head, value{c.ULEB128(), classAddrIndex})
			return a
		}
		for base := u.head.base; !c.Bad; {
			var lo, hi uint64
			switch kind := c.Uint(1); kind {
			case 0:
				return
			case 1:
				base = index()
				continue
			case 2:
				lo, hi = index(), index()
			case 3:
				lo = index()
				hi = lo + c.Uint(4)
			case 4:
				lo, hi = base+c.Uint(4), base+c.Uint(4)
			default:
				wrong = fmt.Errorf("list of locations at %#x: entry of unknown kind %d", off, kind)
				return
			}
			if block := c.Take(c.Uint(2)); !c.Bad && addr >= lo && addr < hi {
				code = bytes.Clone(block)
				return
			}
		}
	})
	return d.readList(code, n, err, wrong)
}

// readList bounds the work of reading lists: hostile entries may all refer to a large one.
func (d *debugInfo) readList(code []byte, n uint64, err, wrong error) ([]byte, error) {
	switch {
	case err != nil:
		return nil, err
	case wrong != nil:
		return nil, wrong
	case n > maxLocList:
		return nil, fmt.Errorf("list of locations of %d bytes is too long", n)
	}
	return code, nil
}

// maxLocList bounds the bytes of a list up to the entry that is looked for.
const maxLocList = 1 << 20
