package sframe

import "iter"

// maxFRESize is the size of the largest FRE in bytes: an offset of 4, the info byte, and 15 data
// words of 4.
const maxFRESize = 4 + 1 + 15*4

// noSize marks the undefined data word size in wordBytes.
const noSize = 0xff

// wordBytes gives the size in bytes of all data words of an FRE, by bits 1 to
// 6 of its info byte.
var wordBytes = func() (t [64]uint8) {
	for i := range t {
		info := FREInfo(i << 1)
		t[i] = uint8(info.NumWords() * info.WordSize())
		if info.WordSize() == 0 {
			t[i] = noSize
		}
	}
	return t
}()

// firstFRE returns where f's first FRE lies in the FRE sub-section.
func (s *Section) firstFRE(f *FDE) uint64 {
	if s.Version == V3 {
		return uint64(f.FREOff) + attrSize
	}
	return uint64(f.FREOff)
}

// FREs iterates over the FREs of f, an FDE of this section. An FRE that cannot be read comes with
// its [*FormatError]. If only its data words are at fault, the iteration goes on. Otherwise nothing
// tells where the next FRE begins, and the iteration ends.
func (s *Section) FREs(f FDE) iter.Seq2[FRE, error] {
	return func(yield func(FRE, error) bool) {
		pos, last := s.firstFRE(&f), uint32(0)
		for i := range int64(f.NumFREs) {
			fre, next, err := s.readFRE(&f, int(i), pos)
			if next != 0 && fre.Offset < last {
				next, err = 0, s.descending(&f, int(i), pos, fre.Offset, last)
			}
			if !yield(fre, err) || next == 0 {
				return
			}
			pos, last = next, fre.Offset
		}
	}
}

// readFRE decodes the FRE at pos of the FRE sub-section, the i-th of f. next is the position of the
// following FRE, 0 if that is not known.
func (s *Section) readFRE(f *FDE, i int, pos uint64) (fre FRE, next uint64, err error) {
	fixed := uint64(1)<<f.FREType + 1
	if f.FREType > Addr4 || pos > uint64(s.fresLen) || uint64(s.fresLen)-pos < fixed {
		return fre, 0, s.truncated(f, i, pos)
	}
	p, ok := s.fresAt(pos, maxFRESize)
	if !ok {
		return fre, 0, s.freError(f.Index, i, pos, ErrMalformed, unreadable)
	}
	fre.Offset = s.freOffset(p, f.FREType)
	fre.Info = FREInfo(p[fixed-1])
	n := wordBytes[fre.Info>>1&0x3f]
	if n == noSize {
		return fre, 0, s.noWordSize(f, i, pos)
	}
	p = p[fixed:]
	if int(n) > len(p) {
		return fre, 0, s.truncated(f, i, pos)
	}
	fre.Words = p[:n:n]
	if problem := s.rules(f.Type, fre.Info, fre.Words, &fre.CFA, &fre.RA, &fre.FP); problem != "" {
		err = s.freError(f.Index, i, pos, ErrMalformed, "%s (info byte %#x, data words %#x)", problem, uint8(fre.Info), fre.Words)
	}
	return fre, pos + fixed + uint64(n), err
}

// freOffset loads sfre_start_address.
func (s *Section) freOffset(p []byte, t FREType) uint32 {
	switch t {
	case Addr1:
		return uint32(p[0])
	case Addr2:
		return uint32(s.u16(p, 0))
	}
	return s.u32(p, 0)
}

func (s *Section) truncated(f *FDE, i int, pos uint64) error {
	return s.freError(f.Index, i, pos, ErrMalformed, "FRE at %#x lies beyond the FRE sub-section (%#x bytes)", pos, s.fresLen)
}

func (s *Section) noWordSize(f *FDE, i int, pos uint64) error {
	return s.freError(f.Index, i, pos+uint64(1)<<f.FREType, ErrUnsupported, "data word size 3, expected 0 to 2")
}

func (s *Section) descending(f *FDE, i int, pos uint64, off, last uint32) error {
	return s.freError(f.Index, i, pos, ErrMalformed, "start offset %#x after %#x, expected ascending order", off, last)
}
