package cfi

import (
	"bytes"
	"fmt"
	"math"

	"github.com/sfwalk/sfwalk/trad"
)

// CIE is a common information entry (DWARF 5, section 6.4.1). LSB Core has the additions of
// .eh_frame.
type CIE struct {
	Offset    int      // in bytes from the start of the section
	Version   uint8    // 1, 3 or 4
	PtrSize   uint8    // bytes in an address: 4 or 8
	RA        trad.Reg // the return address column
	Signal    bool     // 'S': FDEs are of signal trampolines
	KeyB      bool     // 'B': return addresses are signed with key B (AArch64)
	Tagged    bool     // 'G': stack frames may be tagged (AArch64 MTE)
	CodeAlign uint64   // factor of advances
	DataAlign int64    // factor of offsets

	encoding uint8 // of the FDEs' addresses
	sized    bool  // 'z': FDEs have augmentation data, preceded by its length
	augment  span  // the augmentation string
	program  span  // the initial instructions
}

// maxAugmentation is the size of the longest augmentation string, with its zero.
const maxAugmentation = 32

// Augmentation returns the augmentation string of a CIE of this section, such as "zRS".
func (s *Section) Augmentation(c *CIE) string {
	if !s.has(c.augment) {
		return ""
	}
	text, _ := s.pages.View(c.augment.from, c.augment.to)
	return string(text)
}

// parseCIE reads the CIE at off, an offset within the section.
func (s *Section) parseCIE(off int, cie *CIE) error {
	e, err := s.entryAt(off)
	if err != nil {
		return err
	}
	if e.empty || e.cie >= 0 {
		return s.entryError(off, "is not a CIE, where one is expected")
	}
	*cie = CIE{Offset: off, PtrSize: s.ptrSize}
	c := s.reader(e.body, e.end)
	at := c.at()
	fail := func(what, reason string, kind error) error {
		return &Error{s.Kind, "CIE", off, what, at, reason, kind}
	}
	cie.Version = c.U8()
	if v := cie.Version; v != 1 && v != 3 && v != 4 {
		return fail("version", fmt.Sprintf("is %d, want 1, 3 or 4", v), ErrUnsupported)
	}
	at = c.at()
	text := c.CString(maxAugmentation)
	if c.Bad {
		return fail("augmentation", fmt.Sprintf("has no end within %d bytes", maxAugmentation), ErrMalformed)
	}
	cie.augment = span{at, at + len(text)}
	if bytes.HasPrefix(text, []byte("eh")) { // gcc 2: a pointer to its own table
		c.Take(uint64(s.ptrSize))
		text = text[2:]
	}
	if cie.Version == 4 {
		at = c.at()
		cie.PtrSize = c.U8()
		segment := c.U8()
		if cie.PtrSize != 4 && cie.PtrSize != 8 {
			return fail("address size", fmt.Sprintf("is %d, want 4 or 8", cie.PtrSize), ErrUnsupported)
		}
		if segment != 0 {
			return fail("segment selector size", fmt.Sprintf("is %d, want 0", segment), ErrUnsupported)
		}
	}
	cie.CodeAlign = c.ULEB128()
	cie.DataAlign = c.SLEB128()
	at = c.at()
	ra := uint64(0)
	if cie.Version == 1 {
		ra = uint64(c.U8())
	} else {
		ra = c.ULEB128()
	}
	if ra > math.MaxUint16 {
		return fail("return address column", fmt.Sprintf("is register %d, want at most 65535", ra), ErrUnsupported)
	}
	cie.RA = trad.Reg(ra)
	at = cie.augment.from
	if reason := s.augmentation(&c, cie, text); reason != "" {
		return fail("augmentation", reason, ErrUnsupported)
	}
	if c.Bad {
		at = c.at()
		return fail("header", truncated, ErrMalformed)
	}
	cie.program = span{c.at(), e.end}
	return nil
}

// augmentation reads the augmentation data of the letters of text. It leaves c at the initial
// instructions. reason is "" if the data can be read.
func (s *Section) augmentation(c *reader, cie *CIE, text []byte) (reason string) {
	data := *c
	for i, letter := range text {
		switch letter {
		case 'z':
			if i != 0 {
				return "has 'z' after other letters"
			}
			cie.sized = true
			n := c.ULEB128()
			data.Off = c.Off
			if c.Take(n) == nil {
				return "data " + truncated
			}
			data.Data = c.Data[:c.Off]
		case 'R':
			cie.encoding = data.U8()
		case 'P':
			enc := data.U8()
			if enc == encOmit {
				continue
			}
			if why := s.skipPointer(&data, enc, cie.PtrSize); why != "" {
				return "personality routine " + why
			}
		case 'L':
			data.U8()
			if !cie.sized {
				return "has 'L' without 'z'"
			}
		case 'S':
			cie.Signal = true
		case 'B':
			cie.KeyB = true
		case 'G':
			cie.Tagged = true
		default:
			if !cie.sized {
				return fmt.Sprintf("%q is unknown and has no length to skip it by", text)
			}
			// The data of an unknown letter may lie before the data of a later one.
			if bytes.IndexByte(text[i:], 'R') >= 0 {
				return fmt.Sprintf("%q is unknown and hides how addresses are encoded", text)
			}
			cie.Signal = cie.Signal || bytes.IndexByte(text[i:], 'S') >= 0
			cie.KeyB = cie.KeyB || bytes.IndexByte(text[i:], 'B') >= 0
			return ""
		}
		if data.Bad {
			return "data " + truncated
		}
	}
	if !cie.sized {
		c.Off, c.Bad = data.Off, c.Bad || data.Bad
	}
	return ""
}

// skipPointer steps over an encoded pointer. why is "" if the pointer can be read.
func (s *Section) skipPointer(c *reader, enc, ptrSize uint8) (why string) {
	if enc&^encIndirect == encAligned {
		c.Take(-(s.addr + uint64(c.at())) & uint64(ptrSize-1))
		enc = encAbsptr
	}
	_, why = offset(&c.Reader, enc, ptrSize)
	return why
}
