package sframe

import (
	"fmt"
	"iter"
	"math"
)

// pltEntrySize is the repeat size in V1, which does not store one. It is the size of a PLT entry,
// the same on AMD64 and AArch64.
const pltEntrySize = 16

// attrSize is the size of struct sframe_func_desc_attr (V3).
const attrSize = 5

// FDE returns the i-th FDE, 0 <= i < NumFDEs, in the section's own order. The
// error is a *FormatError; the FDE then has the fields that could be read. FDE
// panics if i is out of range.
func (s *Section) FDE(i int) (FDE, error) {
	var f FDE
	start, size := s.startAndSize(i)
	err := s.readFDE(i, start, size, &f)
	return f, err
}

// FDEAddr returns the link-time address of the i-th FDE itself, the element of
// the FDE sub-section.
func (s *Section) FDEAddr(i int) uint64 { return s.Addr + s.fdeBase + uint64(i)*uint64(s.fdeSize) }

// FDEs iterates over all FDEs in the section's own order. An FDE that cannot be read comes with its
// error, and the iteration goes on.
func (s *Section) FDEs() iter.Seq2[FDE, error] {
	return func(yield func(FDE, error) bool) {
		for i := range int(s.NumFDEs) {
			if f, err := s.FDE(i); !yield(f, err) {
				return
			}
		}
	}
}

// startAndSize returns the start of FDE i relative to the section's address,
// and its size; 0 if the file cannot be read.
func (s *Section) startAndSize(i int) (start int64, size uint32) {
	off, p := i*s.fdeSize, s.fdes
	at := off
	if s.paged {
		if p, at = s.fde(i), 0; p == nil {
			return 0, 0
		}
	}
	field := (int64(s.fdeBase) + int64(off)) & s.pcrel
	if s.Version == V3 {
		return int64(s.u64(p, at)) + field, s.u32(p, at+8)
	}
	return int64(int32(s.u32(p, at))) + field, s.u32(p, at+4)
}

// readFDE decodes FDE i into f, which is zero. The caller passes its startAndSize.
func (s *Section) readFDE(i int, start int64, size uint32, f *FDE) error {
	f.Index = i
	p := s.fde(i)
	if p == nil {
		return s.fdeError(i, 0, ErrMalformed, unreadable)
	}
	f.Start, f.Size = s.Addr+uint64(start), size
	var info, info2 uint8
	if s.Version == V3 {
		f.FREOff = s.u32(p, 12)
		if uint64(f.FREOff)+attrSize > uint64(s.fresLen) {
			return s.fdeError(i, 12, ErrMalformed, "start of FREs %#x lies beyond the FRE sub-section (%#x bytes)", f.FREOff, s.fresLen)
		}
		attr, ok := s.fresAt(uint64(f.FREOff), attrSize)
		if !ok {
			return s.fdeError(i, 12, ErrMalformed, unreadable)
		}
		f.NumFREs = uint32(s.u16(attr, 0))
		info, info2, f.RepSize = attr[2], attr[3], attr[4]
		f.Signal = info&0x80 != 0
		f.Type = FDEType(info2 & 0x1f)
	} else {
		f.FREOff, f.NumFREs, info = s.u32(p, 8), s.u32(p, 12), p[16]
		if uint64(f.FREOff) > uint64(s.fresLen) {
			return s.fdeError(i, 8, ErrMalformed, "start of FREs %#x lies beyond the FRE sub-section (%#x bytes)", f.FREOff, s.fresLen)
		}
		if s.Version == V2 {
			f.RepSize = p[17]
		}
	}
	f.FREType = FREType(info & 0xf)
	f.PCType = PCType(info >> 4 & 1)
	if s.ABI == AArch64LE || s.ABI == AArch64BE {
		f.PauthKey = PauthKey(info >> 5 & 1)
	}
	if s.Version == V1 && f.PCType == PCMask {
		f.RepSize = pltEntrySize
	}
	if f.FREType > Addr4 || f.Type > FDEFlex || f.PCType == PCMask && f.RepSize == 0 ||
		f.Start > math.MaxUint64-uint64(f.Size) {
		return s.badFDE(f, info, info2)
	}
	return nil
}

// Outermost reports whether f, an FDE of a section of version v, says by having no FREs that its
// frame is outermost. A Default FDE of V3 says so (Changes from Version 2 to Version 3). An FDE
// without FREs that marks a signal frame does not: see ErrSignalFrame.
func (f *FDE) Outermost(v Version) bool {
	return f.NumFREs == 0 && v == V3 && f.Type == FDEDefault && !f.Signal
}

// badFDE explains why readFDE rejects f.
func (s *Section) badFDE(f *FDE, info, info2 uint8) error {
	// The bytes after the start of FREs are in the FDE, or in V3's attribute.
	at := func(fdeOff, attrOff int) uint64 {
		if s.Version == V3 {
			return s.freBase + uint64(f.FREOff) + uint64(attrOff)
		}
		return s.fdeBase + uint64(f.Index*s.fdeSize+fdeOff)
	}
	e := &FormatError{FDE: f.Index, FRE: -1, Err: ErrUnsupported}
	switch {
	case f.FREType > Addr4:
		e.Off = at(16, 2)
		e.Msg = fmt.Sprintf("FRE type %d (info byte %#x), expected 0 to 2", f.FREType, info)
	case f.Type > FDEFlex:
		e.Off = at(0, 3)
		e.Msg = fmt.Sprintf("FDE type %d (second info byte %#x), expected 0 or 1", f.Type, info2)
	case f.PCType == PCMask && f.RepSize == 0:
		e.Off, e.Err = at(17, 4), ErrMalformed
		e.Msg = "repeat size 0 in an FDE of PC type mask"
	default:
		e.Off, e.Err = s.fdeBase+uint64(f.Index*s.fdeSize), ErrMalformed
		e.Msg = fmt.Sprintf("start address %#x and size %#x go beyond the address space", f.Start, f.Size)
	}
	return e
}
