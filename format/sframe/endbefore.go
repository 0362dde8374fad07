package sframe

// EndBefore returns the end of the last FDE before pc, a link-time address: code without an FDE
// begins there. ok is false if an FDE covers pc, or none is before it.
func (s *Section) EndBefore(pc uint64) (end uint64, ok bool) {
	rel := int64(pc - s.Addr)
	if s.NumFDEs == 0 {
		return 0, false
	}
	i := 0
	if s.Flags&FDESorted == 0 {
		if i = s.lastIndexed(rel); i < 0 {
			return 0, false
		}
	} else {
		i = s.lastStart(rel)
	}
	for ; i >= 0; i-- { // a discarded function leaves an FDE of size 0
		start, size := s.startAndSize(i)
		if size == 0 && s.Flags&FDESorted != 0 {
			continue
		}
		if start > rel || uint64(rel-start) < uint64(size) {
			return 0, false
		}
		return s.Addr + uint64(start) + uint64(size), true
	}
	return 0, false
}
