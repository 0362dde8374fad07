package dwarf

import (
	"fmt"
)

// Class says what a [Value] means, and in which section it is to be looked up.
type Class uint8

const (
	ClassNone      Class = iota // a value of no use, such as a block that is too long
	ClassAddress                // an address of the module
	ClassAddrIndex              // an index into the unit's part of .debug_addr
	ClassConstant
	ClassOffset       // an offset in another section, which the attribute names
	ClassList         // an index into the unit's part of .debug_rnglists, or of .debug_loclists
	ClassReference    // an offset in .debug_info
	ClassSupReference // an offset in .debug_info of the supplementary file
	ClassSignature    // the signature of a unit of one type
	ClassText         // a string in .debug_info, at that offset
	ClassStr          // a string in .debug_str
	ClassSupStr       // a string in .debug_str of the supplementary file
	ClassLineStr      // a string in .debug_line_str
	ClassStrIndex     // an index into the unit's part of .debug_str_offsets
	ClassBlock        // bytes in .debug_info: see Value.Block
)

// Value is an attribute's value as it is encoded: nothing was looked up in another section yet.
type Value struct {
	N     uint64
	Class Class
}

// Text reports whether a value is a string.
func (v Value) Text() bool {
	switch v.Class {
	case ClassText, ClassStr, ClassSupStr, ClassLineStr, ClassStrIndex:
		return true
	}
	return false
}

// Reference reports whether a value refers to an entry by its offset.
func (v Value) Reference() bool { return v.Class == ClassReference || v.Class == ClassSupReference }

// A block's value has its offset in .debug_info in the lower bits, and its size above.
const blockShift = 48

// Block returns where the bytes of a value of [ClassBlock] are in .debug_info: [lo, hi).
func (v Value) Block() (lo, hi uint64) {
	lo = v.N & (1<<blockShift - 1)
	return lo, lo + v.N>>blockShift
}

// Cursor reads the entries of a unit one after the other: a code, by which the unit's [Abbrevs]
// tell the layout, then the attributes.
type Cursor struct {
	Reader        // Bad is set where bytes are missing, or Err is set
	Unit   *Unit  // whose entries Data has
	Base   uint64 // offset of Data in the section
	Err    error  // a form is not known
}

// Offset returns where the cursor is in the section.
func (c *Cursor) Offset() uint64 { return c.Base + uint64(c.Off) }

// Seek moves the cursor to an offset of the section, which is within Data, or else to an end of
// Data.
func (c *Cursor) Seek(off uint64) {
	c.Off = int(min(max(off, c.Base)-c.Base, uint64(len(c.Data))))
}

// Value reads a value of a form. implicit is its value if the form is FormImplicitConst.
func (c *Cursor) Value(f Form, implicit int64) Value {
	u := c.Unit
	switch f {
	case FormAddr:
		return Value{c.Uint(int(u.AddrSize)), ClassAddress}
	case FormAddrx, FormGNUAddrIndex:
		return Value{c.ULEB128(), ClassAddrIndex}
	case FormAddrx1, FormAddrx2, FormAddrx3, FormAddrx4:
		return Value{c.Uint(int(f-FormAddrx1) + 1), ClassAddrIndex}

	case FormData1, FormFlag:
		return Value{uint64(c.U8()), ClassConstant}
	case FormData2:
		return Value{uint64(c.U16()), ClassConstant}
	case FormData4:
		return Value{uint64(c.U32()), ClassConstant}
	case FormData8:
		return Value{c.U64(), ClassConstant}
	case FormUdata:
		return Value{c.ULEB128(), ClassConstant}
	case FormSdata:
		return Value{uint64(c.SLEB128()), ClassConstant}
	case FormImplicitConst:
		return Value{uint64(implicit), ClassConstant}
	case FormFlagPresent:
		return Value{1, ClassConstant}

	case FormSecOffset:
		return Value{c.Uint(int(u.OffsetSize)), ClassOffset}
	case FormRnglistx, FormLoclistx:
		return Value{c.ULEB128(), ClassList}

	case FormRef1:
		return Value{u.Start + uint64(c.U8()), ClassReference}
	case FormRef2:
		return Value{u.Start + uint64(c.U16()), ClassReference}
	case FormRef4:
		return Value{u.Start + uint64(c.U32()), ClassReference}
	case FormRef8:
		return Value{u.Start + c.U64(), ClassReference}
	case FormRefUdata:
		return Value{u.Start + c.ULEB128(), ClassReference}
	case FormRefAddr:
		return Value{c.Uint(f.Size(u.Encoding)), ClassReference}
	case FormGNURefAlt, FormRefSup4, FormRefSup8:
		return Value{c.Uint(f.Size(u.Encoding)), ClassSupReference}
	case FormRefSig8:
		return Value{c.U64(), ClassSignature}

	case FormString:
		at := c.Offset()
		c.CString(len(c.Data))
		return Value{at, ClassText}
	case FormStrp:
		return Value{c.Uint(int(u.OffsetSize)), ClassStr}
	case FormLineStrp:
		return Value{c.Uint(int(u.OffsetSize)), ClassLineStr}
	case FormGNUStrpAlt, FormStrpSup:
		return Value{c.Uint(int(u.OffsetSize)), ClassSupStr}
	case FormStrx, FormGNUStrIndex:
		return Value{c.ULEB128(), ClassStrIndex}
	case FormStrx1, FormStrx2, FormStrx3, FormStrx4:
		return Value{c.Uint(int(f-FormStrx1) + 1), ClassStrIndex}

	case FormBlock1:
		return c.block(uint64(c.U8()))
	case FormBlock2:
		return c.block(uint64(c.U16()))
	case FormBlock4:
		return c.block(uint64(c.U32()))
	case FormBlock, FormExprloc:
		return c.block(c.ULEB128())
	case FormData16:
		return c.block(16)

	case FormIndirect:
		if f = Form(c.ULEB128()); f != FormIndirect && f != FormImplicitConst {
			return c.Value(f, 0)
		}
	}
	if c.Err == nil {
		c.Err = fmt.Errorf("offset %#x: attribute of unknown form %#x", c.Offset(), uint32(f))
	}
	c.Bad = true
	return Value{}
}

// block goes over n bytes. A block that is too long for an expression is a value of no use.
func (c *Cursor) block(n uint64) Value {
	at := c.Offset()
	c.Take(n)
	if n >= 1<<(64-blockShift) || at >= 1<<blockShift {
		return Value{}
	}
	return Value{at | n<<blockShift, ClassBlock}
}

// Skip goes over the attributes of an entry.
func (c *Cursor) Skip(a *Abbrev) {
	if end := a.Over(c.Data, c.Off); end >= 0 {
		c.Off = end
		return
	}
	for i := range a.Attrs {
		c.Value(a.Attrs[i].Form, 0)
	}
}

// SkipTo goes over the attributes of an entry. It returns the offset in the section of the entry's
// next sibling; 0 where the entry does not tell.
func (c *Cursor) SkipTo(a *Abbrev) (sibling uint64) {
	start := c.Off
	c.Skip(a)
	if a.Sibling < 0 || c.Bad {
		return 0
	}
	at := Reader{Data: c.Data, Off: start + a.Sibling, Big: c.Big}
	return c.Unit.Start + uint64(at.U32())
}
