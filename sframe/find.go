package sframe

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
	i := s.findFDE(pc)
	if i < 0 {
		return row, ErrNoFDE
	}
	var f FDE
	if err := s.readFDE(i, &f); err != nil {
		return row, err
	}
	return row, s.findRow(&f, uint32(pc-f.Start), &row)
}

// FindFDE returns the FDE that covers pc, a link-time address, and errors
// like Find's.
func (s *Section) FindFDE(pc uint64) (FDE, error) {
	i := s.findFDE(pc)
	if i < 0 {
		return FDE{}, ErrNoFDE
	}
	return s.FDE(i)
}

// findFDE returns the index of the FDE that covers pc, or -1.
func (s *Section) findFDE(pc uint64) int {
	// All starts are compared relative to the section, as they are stored, so
	// that a section at the top of the address space is searched in its order.
	rel := int64(pc - s.Addr)
	if s.Flags&FDESorted == 0 {
		return s.findIndexed(rel)
	}
	// A discarded function leaves an FDE of size 0 that may stand at the same
	// start as the one that covers pc.
	for i := s.lastStart(rel); i >= 0; i-- {
		start, size := s.startAndSize(i)
		if rel >= start && uint64(rel-start) < uint64(size) {
			return i
		}
		if size != 0 {
			break
		}
	}
	return -1
}

// lastStart returns the last FDE of a sorted section that starts at or before
// rel, or -1. It is one loop per layout of an FDE, since nearly all the time
// of a look-up is spent here.
func (s *Section) lastStart(rel int64) int {
	lo, n := 0, int(s.NumFDEs)
	if n == 0 {
		return -1
	}
	base, fdes, size := int64(s.fdeBase), s.fdes, s.fdeSize
	if s.Version == V3 {
		for n > 1 {
			half := n >> 1
			mid := lo + half
			off := mid * 16
			if start := int64(s.u64(fdes, off)) + (base+int64(off))&s.pcrel; start <= rel {
				lo = mid
			}
			n -= half
		}
	} else {
		for n > 1 {
			half := n >> 1
			mid := lo + half
			off := mid * size
			if start := int64(int32(s.u32(fdes, off))) + (base+int64(off))&s.pcrel; start <= rel {
				lo = mid
			}
			n -= half
		}
	}
	if start, _ := s.startAndSize(lo); start > rel {
		return -1
	}
	return lo
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
