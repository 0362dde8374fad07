package sframe

import (
	"encoding/binary"
	"math/bits"
)

// Find returns the row for pc, a link-time address. It allocates nothing
// (but for the index of an unsorted section, once). The error is ErrNoFDE,
// ErrNoRow, or a *FormatError for the FDE or FRE that is in the way.
//
// The row holds for pc in any case: a section that says that it is sorted and
// is not, or whose FDEs overlap, may hide an FDE from the search, but never
// yields another FDE's row. Of overlapping FDEs the one that starts last
// before pc counts.
func (s *Section) Find(pc uint64) (Row, error) {
	var row Row
	i, start, size := s.findFDE(pc)
	if i < 0 {
		return row, ErrNoFDE
	}
	var f FDE
	if err := s.readFDE(i, start, size, &f); err != nil {
		return row, err
	}
	return row, s.findRow(&f, uint32(pc-f.Start), &row)
}

// FindFDE returns the FDE that covers pc, a link-time address, and errors
// like Find's.
func (s *Section) FindFDE(pc uint64) (FDE, error) {
	i, _, _ := s.findFDE(pc)
	if i < 0 {
		return FDE{}, ErrNoFDE
	}
	return s.FDE(i)
}

// findFDE returns the index of the FDE that covers pc, or -1, and its
// startAndSize.
func (s *Section) findFDE(pc uint64) (i int, start int64, size uint32) {
	// All starts are compared relative to the section, as they are stored, so
	// that a section at the top of the address space is searched in its order.
	rel := int64(pc - s.Addr)
	if s.NumFDEs == 0 {
		return -1, 0, 0
	}
	if s.Flags&FDESorted == 0 {
		return s.findIndexed(rel)
	}
	// A discarded function leaves an FDE of size 0 that may stand at the same
	// start as the one that covers pc.
	for i := s.lastStart(rel); i >= 0; i-- {
		start, size := s.startAndSize(i)
		if uint64(rel-start) < uint64(size) {
			return i, start, size
		}
		if size != 0 {
			break
		}
	}
	return -1, 0, 0
}

// search returns the last of the n FDEs of a sorted section from lo on that starts
// at or before rel, or any other one of them if there is none; n is at least 1.
//
// Most of the time of a look-up is spent here. Hence one loop per layout of an
// FDE; steps without a branch that depends on the data, which would be
// mispredicted every other time; and three loads a step that do not wait for
// each other. rel - start may overflow where they lie 2^63 bytes apart; the
// search then goes astray, and findFDE finds nothing.
func (s *Section) search(rel int64, lo, n int) int {
	fdes, size, big := s.fdes, s.fdeSize, s.big
	// A start that is relative to its own field is at value + base + offset.
	rel -= int64(s.fdeBase) & s.pcrel
	pcrel := int(s.pcrel)
	if s.Version == V3 {
		for n > 3 {
			q := n >> 2
			lo += q&starts64(fdes, (lo+q)*16, rel, pcrel, big) +
				q&starts64(fdes, (lo+2*q)*16, rel, pcrel, big) +
				q&starts64(fdes, (lo+3*q)*16, rel, pcrel, big)
			n -= 3 * q
		}
		for ; n > 1; n-- {
			lo -= starts64(fdes, (lo+1)*16, rel, pcrel, big)
		}
		return lo
	}
	for n > 3 {
		q := n >> 2
		lo += q&starts32(fdes, (lo+q)*size, rel, pcrel, big) +
			q&starts32(fdes, (lo+2*q)*size, rel, pcrel, big) +
			q&starts32(fdes, (lo+3*q)*size, rel, pcrel, big)
		n -= 3 * q
	}
	for ; n > 1; n-- {
		lo -= starts32(fdes, (lo+1)*size, rel, pcrel, big)
	}
	return lo
}

// starts64 returns -1 if the 8-byte start at off is at or before rel, else 0.
func starts64(fdes []byte, off int, rel int64, pcrel int, big bool) int {
	v := binary.LittleEndian.Uint64(fdes[off : off+8])
	if big {
		v = bits.ReverseBytes64(v)
	}
	return ^int((rel - int64(v) - int64(off&pcrel)) >> 63)
}

// starts32 is starts64 for a 4-byte start.
func starts32(fdes []byte, off int, rel int64, pcrel int, big bool) int {
	v := binary.LittleEndian.Uint32(fdes[off : off+4])
	if big {
		v = bits.ReverseBytes32(v)
	}
	return ^int((rel - int64(int32(v)) - int64(off&pcrel)) >> 63)
}

// findRow fills in row for the offset rel in the function of f.
func (s *Section) findRow(f *FDE, rel uint32, row *Row) error {
	lo, limit := uint32(0), f.Size // of the function, or of the block around rel
	key := rel
	if f.PCType == PCMask {
		key = rel % uint32(f.RepSize)
		lo = rel - key
		limit = min(uint32(f.RepSize), f.Size-lo)
		row.Flags |= RowPCMask
	}
	if f.Signal {
		row.Flags |= RowSignal
	}
	if f.PauthKey == PauthB {
		row.Flags |= RowPauthB
	}
	if f.NumFREs == 0 && s.Version == V3 && f.Type == Default {
		// Such an FDE marks an outermost frame (Changes from Version 2 to Version 3).
		row.Lo, row.Len = f.Start, f.Size
		row.Flags |= RowOutermost
		row.RA = Rule{Kind: RuleUndefined}
		return nil
	}

	// The FREs ascend: the last one that starts at or before key is the row,
	// and the one after it is its end.
	var (
		p     = s.fres
		pos   = int(s.firstFRE(f))
		fixed = 1<<f.FREType + 1
		hit   = -1
		start uint32
	)
	n := f.NumFREs
	i := uint32(0)
	for ; i < n; i++ {
		if pos > len(p)-fixed {
			return s.truncated(f, int(i), uint64(pos))
		}
		off := s.freOffset(p[pos:], f.FREType)
		if off > key {
			limit = min(limit, off)
			break
		}
		if off < start {
			return s.descending(f, int(i), uint64(pos), off, start)
		}
		hit, start = pos, off
		size := wordBytes[p[pos+fixed-1]>>1&0x3f]
		if size == noSize {
			return s.noWordSize(f, int(i), uint64(pos))
		}
		pos += fixed + int(size)
	}
	if hit < 0 {
		return ErrNoRow
	}
	if pos > len(p) {
		return s.truncated(f, int(i-1), uint64(hit))
	}
	info := FREInfo(p[hit+fixed-1])
	if problem := s.rules(f.Type, info, p[hit+fixed:], &row.CFA, &row.RA, &row.FP); problem != "" {
		_, _, err := s.readFRE(f, int(i-1), uint64(hit)) // says it in full
		return err
	}
	row.Lo = f.Start + uint64(lo+start)
	row.Len = limit - start
	if info.MangledRA() {
		row.Flags |= RowMangledRA
	}
	if row.RA.Kind == RuleUndefined {
		row.Flags |= RowOutermost
	}
	return nil
}
