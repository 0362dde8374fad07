package symbol

import (
	"bytes"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// located returns the expression of an attribute at a link-time address: the attribute's own, or
// its list's (DWARF 5, section 2.6.2). It is nil if there is none.
func (d *debugInfo) located(u *unit, v dwarfdata.Value, addr uint64) ([]byte, error) {
	h := u.head
	switch {
	case v.Class == dwarfdata.ClassBlock:
		lo, hi := v.Block()
		code, err := d.info.bytes(lo, hi)
		return bytes.Clone(code), err
	case v.Class == dwarfdata.ClassList && u.Version >= 5:
		size := uint64(u.OffsetSize)
		b, err := d.locLists.bytes(h.locLists+v.N*size, h.locLists+(v.N+1)*size)
		if err != nil {
			return nil, err
		}
		c := dwarfdata.New(b, d.order)
		return d.locList(u, h.locLists+c.Uint(int(size)), addr, dwarfdata.Base.Location)
	case v.Class == dwarfdata.ClassOffset && u.Version >= 5:
		return d.locList(u, v.N, addr, dwarfdata.Base.Location)
	case (v.Class == dwarfdata.ClassOffset || v.Class == dwarfdata.ClassConstant) && u.Version < 5:
		if d.skeleton != nil {
			return d.locList(u, v.N, addr, dwarfdata.Base.SplitLocation)
		}
		return d.locList(u, v.N, addr, dwarfdata.Base.OldLocation)
	}
	return nil, nil
}

// locList has find read the list at off, which is in the section of the unit's version of DWARF.
func (d *debugInfo) locList(u *unit, off, addr uint64, find func(dwarfdata.Base, *dwarfdata.Reader, uint64) ([]byte, error)) (code []byte, err error) {
	s := d.locLists
	if u.Version < 5 {
		s = d.oldLocs
	}
	base := d.base(u, u.head)
	var wrong error
	n, err := s.scan(off, d.order, func(c *sectionReader) {
		code, wrong = find(base, &c.Reader, addr)
		code = bytes.Clone(code)
	})
	switch {
	case err != nil:
		return nil, err
	case wrong != nil:
		return nil, fmt.Errorf("list of locations at %#x: %w", off, wrong)
	case n > maxLocList: // hostile entries may all refer to a large one
		return nil, fmt.Errorf("list of locations of %d bytes is too long", n)
	}
	return code, nil
}

// maxLocList bounds the bytes of a list up to the entry that is looked for.
const maxLocList = 1 << 20
