package sframe

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/pages"
)

const unreadable = "the file cannot be read"

// headerSize is the size of struct sframe_header, the same in all versions.
const headerSize = 28

// fdeSizes are the sizes of the elements of the FDE sub-section:
// struct sframe_func_desc_entry of V1 and V2, struct sframe_func_desc_idx of V3.
var fdeSizes = [...]int{V1: 17, V2: 20, V3: 16}

// A Section is an SFrame section, read in place. Do not copy it.
type Section struct {
	Header
	Addr uint64 // link-time address of the section's first byte
	// Data has the section's bytes; the header gives their number. It is nil if the section is read
	// page by page.
	Data []byte

	pages            *pages.Bytes
	at               int    // offset of the section in pages
	size             int    // of the section in bytes
	paged            bool   // Data is nil: pages reads it as it is needed
	fdes, fres       []byte // the sub-sections; nil if paged
	fresLen          int    // bytes of FREs
	fdeBase, freBase uint64 // their offsets in the section
	fdeSize          int
	big              bool  // byte order is big-endian
	pcrel            int64 // all ones if starts are relative to their field, else 0
	sp, fp           uint16
	base             [2]uint16 // the CFA's base register by bit 0 of the info byte: fp, sp
	ra0, fp0         Rule      // rules for RA and FP that the data words do not mention

	steps     atomic.Pointer[steps] // only if the section is sorted
	indexOnce sync.Once
	index     []indexEntry // sorted starts, only if the section itself is not sorted
}

// Open checks the header of the SFrame section at the start of data and returns a Section that
// reads it in place; data must not change afterwards. addr is the link-time address of data[0],
// from which all addresses count. The header tells the section's end; Open ignores the bytes after
// it. Open does not look at FDEs and FREs: a malformed one gives an error when it is read. The
// error is a *FormatError.
func Open(data []byte, addr uint64) (*Section, error) { return open(pages.Of(data), 0, addr) }

// open opens the section at an offset of bytes.
func open(bytes *pages.Bytes, at int, addr uint64) (*Section, error) {
	s := &Section{Addr: addr, pages: bytes, at: at, paged: bytes.Paged()}
	data, ok := bytes.View(at, at+min(bytes.Len()-at, headerSize+math.MaxUint8))
	if !ok {
		return nil, headerError(0, ErrMalformed, unreadable)
	}
	if err := s.readHeader(data); err != nil {
		return nil, err
	}
	headerEnd := uint64(headerSize + len(s.AuxHeader))
	s.fdeSize = fdeSizes[s.Version]
	s.fdeBase = headerEnd + uint64(s.FDEOff)
	s.freBase = headerEnd + uint64(s.FREOff)
	fdeEnd := s.fdeBase + uint64(s.NumFDEs)*uint64(s.fdeSize)
	freEnd := s.freBase + uint64(s.FRELen)
	size := uint64(bytes.Len() - at)
	switch {
	case fdeEnd > size:
		return nil, headerError(0x14, ErrMalformed, "FDE sub-section [%#x, %#x) of %d FDEs lies beyond the %#x bytes of data",
			s.fdeBase, fdeEnd, s.NumFDEs, size)
	case s.freBase < fdeEnd:
		return nil, headerError(0x18, ErrMalformed, "FRE sub-section starts at %#x, before the FDE sub-section's end at %#x",
			s.freBase, fdeEnd)
	case freEnd > size:
		return nil, headerError(0x10, ErrMalformed, "FRE sub-section [%#x, %#x) lies beyond the %#x bytes of data",
			s.freBase, freEnd, size)
	}
	end := max(fdeEnd, freEnd)
	s.size, s.fresLen = int(end), int(s.FRELen)
	if !s.paged {
		s.Data, _ = bytes.View(at, at+s.size)
		s.fdes = s.Data[s.fdeBase:fdeEnd:fdeEnd]
		s.fres = s.Data[s.freBase:freEnd:freEnd]
	}
	if s.Flags&FDEFuncStartPCRel != 0 {
		s.pcrel = -1
	}
	s.sp, s.fp = s.ABI.SP(), s.ABI.FP()
	s.base = [...]uint16{s.fp, s.sp}
	s.ra0, s.fp0 = fixedRule(s.FixedRA), fixedRule(s.FixedFP)
	return s, nil
}

// fde returns the bytes of FDE i, nil if the file cannot be read.
func (s *Section) fde(i int) []byte {
	off := i * s.fdeSize
	if !s.paged {
		return s.fdes[off:][:s.fdeSize]
	}
	at := s.at + int(s.fdeBase) + off
	b, _ := s.pages.View(at, at+s.fdeSize)
	return b
}

// fresAt returns bytes of the FRE sub-section from an offset within it on: at most n if the section
// is paged, else all. ok is false if the file cannot be read.
func (s *Section) fresAt(off, n uint64) (b []byte, ok bool) {
	if !s.paged {
		return s.fres[off:], true
	}
	at := s.at + int(s.freBase+off)
	return s.pages.View(at, at+int(min(n, uint64(s.fresLen)-off)))
}

// fixedRule returns the rule for a register that the header places at CFA+off. If off is 0
// (SFRAME_CFA_FIXED_RA_INVALID), the header leaves the place open, and the rule is RuleSame.
func fixedRule(off int8) Rule {
	if off == 0 {
		return Rule{Kind: RuleSame}
	}
	return Rule{Kind: RuleSaved, Off: int32(off)}
}

// readHeader fills in s.Header and the byte order.
func (s *Section) readHeader(data []byte) error {
	if len(data) < headerSize {
		return headerError(0, ErrMalformed, "%d bytes of data, expected at least %d", len(data), headerSize)
	}
	h := &s.Header
	switch binary.LittleEndian.Uint16(data) {
	case Magic:
		h.ByteOrder = binary.LittleEndian
	case bits.ReverseBytes16(Magic):
		h.ByteOrder = binary.BigEndian
		s.big = true
	default:
		return headerError(0, ErrMalformed, "magic bytes %#02x %#02x, expected %#x in either byte order", data[0], data[1], Magic)
	}
	h.Version, h.Flags, h.ABI = Version(data[2]), Flags(data[3]), ABI(data[4])
	known, abis, ok := limits(h.Version)
	if !ok {
		return headerError(2, ErrUnsupported, "version %d, expected 1, 2 or 3", h.Version)
	}
	if unknown := h.Flags &^ known; unknown != 0 {
		return headerError(3, ErrUnsupported, "flags %#x, of which %#x are not defined in version %d", uint8(h.Flags), uint8(unknown), h.Version)
	}
	if h.ABI < AArch64BE || h.ABI > abis {
		return headerError(4, ErrUnsupported, "ABI %d, expected 1 to %d in version %d", h.ABI, abis, h.Version)
	}
	if h.ABI.bigEndian() != s.big {
		return headerError(4, ErrMalformed, "ABI %d (%v) in a section of the other byte order (%v)", h.ABI, h.ABI, h.ByteOrder)
	}
	h.FixedFP, h.FixedRA = int8(data[5]), int8(data[6])
	h.NumFDEs = s.u32(data, 0x08)
	h.NumFREs = s.u32(data, 0x0c)
	h.FRELen = s.u32(data, 0x10)
	h.FDEOff = s.u32(data, 0x14)
	h.FREOff = s.u32(data, 0x18)
	if n := int(data[7]); n != 0 {
		if headerSize+n > len(data) {
			return headerError(7, ErrMalformed, "auxiliary header of %d bytes lies beyond the %#x bytes of data", n, len(data))
		}
		h.AuxHeader = data[headerSize : headerSize+n : headerSize+n]
	}
	return nil
}

// limits returns the flags that a version defines and the last of its ABIs.
func limits(v Version) (known Flags, abis ABI, ok bool) {
	switch v {
	case V1:
		return FDESorted | FramePointer, AMD64, true
	case V2:
		return FDESorted | FramePointer | FDEFuncStartPCRel, S390X, true
	case V3:
		return FDESorted | FDEFuncStartPCRel, S390X, true // binutils, too, refuses FramePointer here
	}
	return 0, 0, false
}

// u16, u32 and u64 load a field in the section's byte order. The caller has checked the bounds.
// (p[off:off+4] compiles to less than p[off:].)

func (s *Section) u16(p []byte, off int) uint16 {
	v := binary.LittleEndian.Uint16(p[off : off+2])
	if s.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (s *Section) u32(p []byte, off int) uint32 {
	v := binary.LittleEndian.Uint32(p[off : off+4])
	if s.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (s *Section) u64(p []byte, off int) uint64 {
	v := binary.LittleEndian.Uint64(p[off : off+8])
	if s.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}
