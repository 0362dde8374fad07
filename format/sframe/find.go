package sframe

import (
	"encoding/binary"
	"math/bits"
)

// Find returns the row for pc, a link-time address. Only the first look-up in a section allocates:
// the index of an unsorted section, or at most 16 KiB to speed up the search. The error is
// ErrNoFDE, ErrNoRow, ErrSignalFrame, or a *FormatError for the FDE or FRE that cannot be read.
//
// The row holds for pc in any case. If FDEs overlap, or the section wrongly says that it is sorted,
// the search may miss an FDE, but never yields another FDE's row. Of overlapping FDEs, the one that
// starts last before pc counts.
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

// FindFDE returns the FDE that covers pc, a link-time address. The error is ErrNoFDE or a
// *FormatError.
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
	// All starts are compared relative to the section, as they are stored. So a section at the top
	// of the address space is searched in its order.
	rel := int64(pc - s.Addr)
	if s.NumFDEs == 0 {
		return -1, 0, 0
	}
	if s.Flags&FDESorted == 0 {
		return s.findIndexed(rel)
	}
	// A discarded function leaves an FDE of size 0. It may have the same start as the FDE that
	// covers pc.
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

// search searches the n FDEs from lo on in a sorted section; n is at least 1. It returns the last
// one that starts at or before rel, or any of them if none does.
//
// A look-up spends most of its time here. So there is one loop per layout of an FDE. The steps have
// no branch that depends on the data, which would be mispredicted every other time. Each step has
// three loads that do not wait for each other. If rel and start lie 2^63 bytes apart, rel - start
// may overflow; then the search goes astray, and findFDE finds nothing.
func (s *Section) search(rel int64, lo, n int) int {
	fdes, size, big := s.fdes, s.fdeSize, s.big
	// A start that is relative to its own field is value + base + offset.
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
	if f.Outermost(s.Version) {
		row.Lo, row.Len = f.Start, f.Size
		row.Flags |= RowOutermost
		row.RA = Rule{Kind: RuleUndefined}
		return nil
	}

	// The FREs ascend. The last one that starts at or before key is the row; it ends where the next
	// one starts. The loop has one load an FRE, and no branch on the FRE type, which differs from
	// function to function.
	var (
		p     = s.fres
		pos   = int(s.firstFRE(f))
		base  = 0                    // of p in the FRE sub-section
		width = 8 << (f.FREType & 3) // of a start offset, in bits
		mask  = uint64(1)<<(width&63) - 1
		fixed = width/8 + 1
		hit   = -1
		start uint32
		info  uint64
	)
	if s.paged {
		var ok bool
		if p, ok = s.fresAt(uint64(pos), uint64(f.NumFREs)*maxFRESize); !ok {
			return s.freError(f.Index, 0, uint64(pos), ErrMalformed, unreadable)
		}
		base, pos = pos, 0
	}
	n := f.NumFREs
	i := uint32(0)
	for ; i < n; i++ {
		v, ok := load(p, pos, fixed)
		if !ok {
			return s.truncated(f, int(i), uint64(base+pos))
		}
		off := v & mask
		if s.big {
			off = bits.ReverseBytes64(v) >> (-width & 63)
		}
		if off > uint64(key) {
			limit = min(limit, uint32(off))
			break
		}
		if uint32(off) < start {
			return s.descending(f, int(i), uint64(base+pos), uint32(off), start)
		}
		hit, start = pos, uint32(off)
		info = v >> (width & 63)
		if info>>5&3 == 3 {
			return s.noWordSize(f, int(i), uint64(base+pos))
		}
		pos += fixed + int(info>>1&15<<(info>>5&3))
	}
	if hit < 0 {
		if f.Signal {
			return ErrSignalFrame
		}
		return ErrNoRow
	}
	if pos > len(p) {
		return s.truncated(f, int(i-1), uint64(base+hit))
	}
	if !s.shortRules(f.Type, info, p[hit+fixed:], row) {
		if problem := s.rules(f.Type, FREInfo(info), p[hit+fixed:], &row.CFA, &row.RA, &row.FP); problem != "" {
			_, _, err := s.readFRE(f, int(i-1), uint64(base+hit)) // its error has all details
			return err
		}
	}
	row.Lo = f.Start + uint64(lo+start)
	row.Len = limit - start
	row.Flags |= RowFlags(info>>7&1) * RowMangledRA
	if row.RA.Kind == RuleUndefined {
		row.Flags |= RowOutermost
	}
	return nil
}

// load returns the eight bytes of p from pos on, in little-endian order, with zeros for bytes
// behind the end. It reports false if p has fewer than need bytes there; need is at most 8.
func load(p []byte, pos, need int) (v uint64, ok bool) {
	if pos <= len(p)-8 {
		return binary.LittleEndian.Uint64(p[pos : pos+8]), true
	}
	if pos > len(p)-need {
		return 0, false
	}
	for i := len(p) - 1; i >= pos; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v, true
}

// shortRules does the work of rules for data words of one byte in a Default FDE of AMD64 and
// AArch64, without a branch that depends on the data. For anything else it reports false and leaves
// row alone.
func (s *Section) shortRules(t FDEType, info uint64, words []byte, row *Row) bool {
	n := int(info >> 1 & 15)
	if t != FDEDefault || info>>5&3 != 0 || n == 0 || len(words) < 3 || s.ABI == S390X || s.FixedFP != 0 {
		return false
	}
	row.CFA = Rule{RuleInReg, s.base[info&1], int32(int8(words[0]))}
	fp := 1
	row.RA = s.ra0
	if s.FixedRA == 0 {
		fp = 2
		row.RA = savedIf(n > 1 && words[1] != 0, words[1])
	}
	row.FP = savedIf(n > fp, words[fp])
	return true
}

// savedIf returns the rule for a register: saved at CFA+off if is, else the same.
func savedIf(is bool, off byte) Rule {
	r := Rule{Kind: RuleSame}
	at := Rule{RuleSaved, 0, int32(int8(off))}
	if is {
		r = at
	}
	return r
}
