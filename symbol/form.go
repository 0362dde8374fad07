package symbol

import (
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// form is the encoding of an attribute's value, DWARF 5 section 7.5.6.
type form uint32

const (
	formAddr          form = 0x01
	formBlock2        form = 0x03
	formBlock4        form = 0x04
	formData2         form = 0x05
	formData4         form = 0x06
	formData8         form = 0x07
	formString        form = 0x08
	formBlock         form = 0x09
	formBlock1        form = 0x0a
	formData1         form = 0x0b
	formFlag          form = 0x0c
	formSdata         form = 0x0d
	formStrp          form = 0x0e
	formUdata         form = 0x0f
	formRefAddr       form = 0x10
	formRef1          form = 0x11
	formRef2          form = 0x12
	formRef4          form = 0x13
	formRef8          form = 0x14
	formRefUdata      form = 0x15
	formIndirect      form = 0x16
	formSecOffset     form = 0x17
	formExprloc       form = 0x18
	formFlagPresent   form = 0x19
	formStrx          form = 0x1a
	formAddrx         form = 0x1b
	formRefSup4       form = 0x1c
	formStrpSup       form = 0x1d
	formData16        form = 0x1e
	formLineStrp      form = 0x1f
	formRefSig8       form = 0x20
	formImplicitConst form = 0x21
	formLoclistx      form = 0x22
	formRnglistx      form = 0x23
	formRefSup8       form = 0x24
	formStrx1         form = 0x25
	formStrx2         form = 0x26
	formStrx3         form = 0x27
	formStrx4         form = 0x28
	formAddrx1        form = 0x29
	formAddrx2        form = 0x2a
	formAddrx3        form = 0x2b
	formAddrx4        form = 0x2c
	formGNUAddrIndex  form = 0x1f01 // this and the next: in split DWARF 4
	formGNUStrIndex   form = 0x1f02
	formGNURefAlt     form = 0x1f20 // this and the next: in a file that dwz has made
	formGNUStrpAlt    form = 0x1f21
)

// size returns the size of a value of the form in a unit, in bytes; -1 if that varies.
func (f form) size(u *unit) int {
	switch f {
	case formFlagPresent, formImplicitConst:
		return 0
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8
	case formData16:
		return 16
	case formAddr:
		return int(u.addrSize)
	case formRefAddr:
		if u.version == 2 {
			return int(u.addrSize)
		}
		return int(u.offsetSize)
	case formStrp, formLineStrp, formStrpSup, formSecOffset, formGNURefAlt, formGNUStrpAlt:
		return int(u.offsetSize)
	}
	return -1
}

// class says what a value means, and in which section it is to be looked up.
type class uint8

const (
	classNone      class = iota // a value that does not matter here: a block, a reference to another file
	classAddress                // an address of the module
	classAddrIndex              // an index into the unit's part of .debug_addr
	classConstant
	classOffset       // an offset in another section, which the attribute names
	classList         // an index into the unit's part of .debug_rnglists, or of .debug_loclists
	classReference    // an offset in .debug_info
	classSupReference // an offset in .debug_info of the supplementary file
	classSignature    // the signature of a unit of types
	classText         // a string in .debug_info, at that offset
	classStr          // a string in .debug_str
	classSupStr       // a string in .debug_str of the supplementary file
	classLineStr      // a string in .debug_line_str
	classStrIndex     // an index into the unit's part of .debug_str_offsets
	classBlock        // bytes in .debug_info: see blockAt
)

// value is an attribute's value.
type value struct {
	n     uint64
	class class
}

// entryCursor reads the entries of a unit.
type entryCursor struct {
	dwarfdata.Reader
	unit *unit
	base uint64 // offset of Data in .debug_info
	err  error  // set where a form is not known; missing bytes set Bad
}

// offset returns the cursor's offset in .debug_info.
func (c *entryCursor) offset() uint64 { return c.base + uint64(c.Off) }

// value reads a value.
func (c *entryCursor) value(f form, implicit int64) value {
	u := c.unit
	switch f {
	case formAddr:
		return value{c.Uint(int(u.addrSize)), classAddress}
	case formAddrx, formGNUAddrIndex:
		return value{c.ULEB128(), classAddrIndex}
	case formAddrx1, formAddrx2, formAddrx3, formAddrx4:
		return value{c.Uint(f.size(u)), classAddrIndex}

	case formData1, formData2, formData4, formData8:
		return value{c.Uint(f.size(u)), classConstant}
	case formUdata:
		return value{c.ULEB128(), classConstant}
	case formSdata:
		return value{uint64(c.SLEB128()), classConstant}
	case formImplicitConst:
		return value{uint64(implicit), classConstant}

	case formSecOffset:
		return value{c.Uint(int(u.offsetSize)), classOffset}
	case formRnglistx:
		return value{c.ULEB128(), classList}

	case formRef1, formRef2, formRef4, formRef8:
		return value{u.start + c.Uint(f.size(u)), classReference}
	case formRefUdata:
		return value{u.start + c.ULEB128(), classReference}
	case formRefAddr:
		return value{c.Uint(f.size(u)), classReference}
	case formGNURefAlt, formRefSup4, formRefSup8:
		return value{c.Uint(f.size(u)), classSupReference}
	case formRefSig8:
		return value{c.Uint(8), classSignature}

	case formString:
		at := c.offset()
		c.CString(len(c.Data))
		return value{at, classText}
	case formStrp:
		return value{c.Uint(int(u.offsetSize)), classStr}
	case formLineStrp:
		return value{c.Uint(int(u.offsetSize)), classLineStr}
	case formGNUStrpAlt, formStrpSup:
		return value{c.Uint(int(u.offsetSize)), classSupStr}
	case formStrx, formGNUStrIndex:
		return value{c.ULEB128(), classStrIndex}
	case formStrx1, formStrx2, formStrx3, formStrx4:
		return value{c.Uint(f.size(u)), classStrIndex}

	case formBlock1:
		return c.block(c.Uint(1))
	case formBlock2:
		return c.block(c.Uint(2))
	case formBlock4:
		return c.block(c.Uint(4))
	case formBlock, formExprloc:
		return c.block(c.ULEB128())
	case formData16:
		return c.block(16)
	case formLoclistx:
		return value{c.ULEB128(), classList}
	case formFlag:
		return value{c.Uint(1), classConstant}
	case formFlagPresent:
		return value{1, classConstant}

	case formIndirect:
		if f := form(c.ULEB128()); f != formIndirect && f != formImplicitConst {
			return c.value(f, 0)
		}
		c.fail(f)
	default:
		n := f.size(u)
		if n < 0 {
			c.fail(f)
			n = 0
		}
		c.Take(uint64(n))
	}
	return value{}
}

// A block's value has its offset in .debug_info in the lower bits, and its size above.
const blockShift = 48

// block goes over n bytes. A block that is too long for an expression is a value that does not matter.
func (c *entryCursor) block(n uint64) value {
	at := c.offset()
	c.Take(n)
	if n >= 1<<(64-blockShift) || at >= 1<<blockShift {
		return value{}
	}
	return value{at | n<<blockShift, classBlock}
}

// blockAt returns where the bytes of a block are in .debug_info.
func (v value) blockAt() (lo, hi uint64) {
	lo = v.n & (1<<blockShift - 1)
	return lo, lo + v.n>>blockShift
}

func (c *entryCursor) fail(f form) {
	if c.err == nil {
		c.err = fmt.Errorf("offset %#x: attribute of unknown form %#x", c.offset(), uint32(f))
	}
}

// text returns v, a value of a unit, as a string; "" if v is no string.
func (d *debugInfo) text(u *unit, v value) string {
	s, off := d.str, v.n
	switch v.class {
	case classText:
		s = d.info
	case classStr:
	case classSupStr:
		sup := d.supplement()
		if sup == nil {
			return ""
		}
		s = sup.str
	case classLineStr:
		s = d.lineStr
	case classStrIndex:
		size := uint64(u.offsetSize)
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
func (d *debugInfo) address(u *unit, h *header, v value) (addr uint64, ok bool) {
	switch v.class {
	case classAddress:
		return v.n, true
	case classAddrIndex:
		size := uint64(u.addrSize)
		at := h.addrs + v.n*size
		b, err := d.addrs.bytes(at, at+size)
		if err != nil {
			return 0, false
		}
		c := dwarfdata.New(b, d.order)
		return c.Uint(int(size)), true
	case classConstant:
		return v.n, u.version < 4 // before DWARF 4, some compilers wrote addresses so (GNAT Pro), and none wrote offsets
	}
	return 0, false
}
