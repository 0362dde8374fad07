package fromelf

import (
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// Forms, DWARF 5 section 7.5.6.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01 // this and the next: in split DWARF 4
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20 // this and the next: in a file that dwz has made
	formGNUStrpAlt    = 0x1f21
)

// Attributes, DWARF 5 section 7.5.4, and GNU's.
const (
	atSibling        = 0x01
	atName           = 0x03
	atStmtList       = 0x10
	atLowPC          = 0x11
	atHighPC         = 0x12
	atLanguage       = 0x13
	atCompDir        = 0x1b
	atInline         = 0x20
	atAbstractOrigin = 0x31
	atDeclaration    = 0x3c
	atSpecification  = 0x47
	atRanges         = 0x55
	atCallFile       = 0x58
	atCallLine       = 0x59
	atLinkageName    = 0x6e
	atStrOffsetsBase = 0x72
	atAddrBase       = 0x73
	atRnglistsBase   = 0x74
	atDwoName        = 0x76
	atMIPSLinkage    = 0x2007 // before DWARF 4
	atGNUDwoName     = 0x2130
	atGNUDwoID       = 0x2131
	atGNURangesBase  = 0x2132
	atGNUAddrBase    = 0x2133
)

// Tags, DWARF 5 section 7.5.3.
const (
	tagClass      = 0x02
	tagLexical    = 0x0b
	tagCompile    = 0x11
	tagStructure  = 0x13
	tagUnion      = 0x17
	tagInlined    = 0x1d
	tagModule     = 0x1e
	tagSubprogram = 0x2e
	tagNamespace  = 0x39
	tagPartial    = 0x3c
	tagSkeleton   = 0x4a
	tagInterface  = 0x38
	tagTryBlock   = 0x32
	tagCatchBlock = 0x25
	tagWithStmt   = 0x22
)

// formSize returns the size of a value of the form in a unit, bytes; -1 if it varies.
func formSize(form uint32, u *unit) int {
	switch form {
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

// class says what a value means, and in which section it is looked up.
type class uint8

const (
	classNone      class = iota // a value that does not matter here
	classAddress                // an address
	classAddrIndex              // an index into the unit's part of .debug_addr
	classConstant
	classOffset   // an offset in another section, which the attribute names
	classList     // an index into the unit's part of .debug_rnglists
	classRef      // an offset in .debug_info
	classSupRef   // an offset in .debug_info of the supplementary file
	classText     // a string in .debug_info, at that offset
	classStr      // a string in .debug_str
	classSupStr   // a string in .debug_str of the supplementary file
	classLineStr  // a string in .debug_line_str
	classStrIndex // an index into the unit's part of .debug_str_offsets
)

// value is an attribute's value.
type value struct {
	n     uint64
	class class
}

// cursor reads the entries of a unit, in .debug_info.
type cursor struct {
	dwarfdata.Reader
	u *unit
}

// at returns a cursor at an offset of .debug_info, in u, whose bytes are data.
func (s *sections) at(u *unit, data []byte, off uint64) cursor {
	c := cursor{dwarfdata.New(data, s.order), u}
	c.seek(off)
	return c
}

// offset returns where c is in .debug_info.
func (c *cursor) offset() uint64 { return c.u.start + uint64(c.Off) }

// seek goes to an offset of .debug_info, in the unit.
func (c *cursor) seek(off uint64) {
	c.Off = int(min(max(off, c.u.start)-c.u.start, uint64(len(c.Data))))
}

// value reads a value.
func (c *cursor) value(form uint32, implicit int64) value {
	u := c.u
	switch form {
	case formAddr:
		return value{c.Uint(int(u.addrSize)), classAddress}
	case formAddrx, formGNUAddrIndex:
		return value{c.ULEB128(), classAddrIndex}
	case formAddrx1, formAddrx2, formAddrx3, formAddrx4:
		return value{c.Uint(int(form-formAddrx1) + 1), classAddrIndex}
	case formData1, formFlag:
		return value{uint64(c.U8()), classConstant}
	case formData2:
		return value{uint64(c.U16()), classConstant}
	case formData4:
		return value{uint64(c.U32()), classConstant}
	case formData8:
		return value{c.U64(), classConstant}
	case formUdata:
		return value{c.ULEB128(), classConstant}
	case formSdata:
		return value{uint64(c.SLEB128()), classConstant}
	case formImplicitConst:
		return value{uint64(implicit), classConstant}
	case formFlagPresent:
		return value{1, classConstant}
	case formSecOffset:
		return value{c.Uint(int(u.offsetSize)), classOffset}
	case formRnglistx, formLoclistx:
		return value{c.ULEB128(), classList}
	case formRef1:
		return value{u.start + uint64(c.U8()), classRef}
	case formRef2:
		return value{u.start + uint64(c.U16()), classRef}
	case formRef4:
		return value{u.start + uint64(c.U32()), classRef}
	case formRef8:
		return value{u.start + c.U64(), classRef}
	case formRefUdata:
		return value{u.start + c.ULEB128(), classRef}
	case formRefAddr:
		return value{c.Uint(formSize(form, u)), classRef}
	case formGNURefAlt, formRefSup4, formRefSup8:
		return value{c.Uint(formSize(form, u)), classSupRef}
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
		return value{c.Uint(int(form-formStrx1) + 1), classStrIndex}
	case formBlock1:
		c.Take(uint64(c.U8()))
	case formBlock2:
		c.Take(uint64(c.U16()))
	case formBlock4:
		c.Take(uint64(c.U32()))
	case formBlock, formExprloc:
		c.Take(c.ULEB128())
	case formIndirect:
		if f := uint32(c.ULEB128()); f != formIndirect && f != formImplicitConst {
			return c.value(f, 0)
		}
		c.Bad = true
	default:
		n := formSize(form, u)
		if n < 0 {
			c.Bad = true
			n = 0
		}
		c.Take(uint64(n))
	}
	return value{}
}

// skip goes over an entry's attributes.
func (c *cursor) skip(a *abbrev) {
	if a.size >= 0 {
		c.Take(uint64(a.size))
		return
	}
	for i := range a.attrs {
		c.value(a.attrs[i].form, 0)
	}
}
