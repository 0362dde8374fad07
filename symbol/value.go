package symbol

import (
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// text returns v, a value of a unit, as a string; "" if v is no string.
func (d *debugInfo) text(u *unit, v dwarfdata.Value) string {
	s, off := d.str, v.N
	switch v.Class {
	case dwarfdata.ClassText:
		s = d.info
	case dwarfdata.ClassStr:
	case dwarfdata.ClassSupStr:
		sup := d.supplement()
		if sup == nil {
			return ""
		}
		s = sup.str
	case dwarfdata.ClassLineStr:
		s = d.lineStr
	case dwarfdata.ClassStrIndex:
		size := uint64(u.OffsetSize)
		at := u.head.strOffsets + off*size
		b, err := d.strOffsets.bytes(at, at+size)
		if err != nil {
			return d.counted("", err)
		}
		c := dwarfdata.New(b, d.order)
		off = c.Uint(int(size))
	default:
		return ""
	}
	return d.counted(s.text(off))
}

// counted counts a text that was read. It returns "", with a warning, if the text cannot be read,
// or all are too much.
func (d *debugInfo) counted(text string, err error) string {
	if err == nil {
		err = d.spend(&d.textLeft, uint64(len(text)))
	}
	if err != nil {
		d.unnamed.Do(func() { d.warn(fmt.Errorf("read names: some are missing: %w", err)) })
		return ""
	}
	return text
}

// address returns v, a value of a unit, as an address; ok is false if v is no address.
func (d *debugInfo) address(u *unit, h *header, v dwarfdata.Value) (addr uint64, ok bool) {
	switch v.Class {
	case dwarfdata.ClassAddress:
		return v.N, true
	case dwarfdata.ClassAddrIndex:
		size := uint64(u.AddrSize)
		at := h.addrs + v.N*size
		b, err := d.addrs.bytes(at, at+size)
		if err != nil {
			return 0, false
		}
		c := dwarfdata.New(b, d.order)
		return c.Uint(int(size)), true
	case dwarfdata.ClassConstant:
		return v.N, u.Version < 4 // before DWARF 4, some compilers wrote addresses so (GNAT Pro), and none wrote offsets
	}
	return 0, false
}
