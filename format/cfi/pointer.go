package cfi

import "github.com/sfwalk/sfwalk/format/dwarf"

// Pointer encodings of .eh_frame (LSB Core, "DWARF Exception Header Encoding").
// The low nibble is the format. The next three bits are the base that the pointer is
// relative to.
const (
	encAbsptr  = 0x00
	encULEB128 = 0x01
	encUdata2  = 0x02
	encUdata4  = 0x03
	encUdata8  = 0x04
	encSigned  = 0x08 // absptr, but signed
	encSLEB128 = 0x09
	encSdata2  = 0x0a
	encSdata4  = 0x0b
	encSdata8  = 0x0c

	encPCrel    = 0x10
	encTextrel  = 0x20
	encDatarel  = 0x30
	encFuncrel  = 0x40
	encAligned  = 0x50
	encIndirect = 0x80
	encOmit     = 0xff

	encFormat   = 0x0f
	encRelative = 0x70
)

// encSize returns the size in bytes of a format with a fixed size, 0 for any other.
func encSize(enc, ptrSize uint8) uint8 {
	switch enc & encFormat {
	case encAbsptr, encSigned:
		return ptrSize
	case encUdata2, encSdata2:
		return 2
	case encUdata4, encSdata4:
		return 4
	case encUdata8, encSdata8:
		return 8
	}
	return 0
}

// signExtend widens the low size bytes of v.
func signExtend(v uint64, size uint8) uint64 {
	shift := 64 - 8*uint(size)
	return uint64(int64(v<<shift) >> shift)
}

// pointer reads an encoded address. why is "" if the address can be read. A funcrel pointer
// is relative to function; it cannot be read if hasFunction is false.
func (s *Section) pointer(c *reader, enc, ptrSize uint8, function uint64, hasFunction bool) (v uint64, why string) {
	if enc&encIndirect != 0 {
		return 0, "is an indirect pointer, which only the target's memory can resolve"
	}
	at := s.addr + uint64(c.at())
	var base uint64
	switch enc & encRelative {
	case 0:
	case encPCrel:
		base = at
	case encTextrel:
		if base = s.textBase; base == 0 {
			return 0, "is relative to the text section, whose address is not known"
		}
	case encDatarel:
		if base = s.dataBase; base == 0 {
			return 0, "is relative to the data section, whose address is not known"
		}
	case encFuncrel:
		if !hasFunction {
			return 0, "is relative to the start of a function that it gives itself"
		}
		base = function
	case encAligned:
		if enc != encAligned {
			return 0, "has an unknown pointer encoding"
		}
		c.Take(-at & uint64(ptrSize-1))
		enc = encAbsptr
	default:
		return 0, "has an unknown pointer encoding"
	}
	if v, why = offset(&c.Reader, enc, ptrSize); why != "" {
		return 0, why
	}
	return (base + v) & addressMask(ptrSize), ""
}

// offset reads the number of an encoded pointer, without its base.
func offset(c *dwarf.Reader, enc, ptrSize uint8) (v uint64, why string) {
	switch size := encSize(enc, ptrSize); {
	case size != 0:
		v = c.Uint(int(size))
		if enc&encSigned != 0 {
			v = signExtend(v, size)
		}
	case enc&encFormat == encULEB128:
		v = c.ULEB128()
	case enc&encFormat == encSLEB128:
		v = uint64(c.SLEB128())
	default:
		return 0, "has an unknown pointer encoding"
	}
	if c.Bad {
		return 0, truncated
	}
	return v, ""
}

func addressMask(ptrSize uint8) uint64 { return ^uint64(0) >> (64 - 8*uint(ptrSize)) }
