package cfi

// EndBefore returns the end of the last FDE before pc. Call it where no FDE covers pc: the code
// without an FDE begins at end. ok is false if an FDE covers pc, or none is before it.
func (s *Section) EndBefore(pc uint64) (end uint64, ok bool) {
	var f FDE
	if s.header.count > 0 && !s.header.lies.Load() && s.inOrder() {
		i, ok := s.position(pc)
		if !ok || i == 0 || !s.entryFDE(i-1, &f) || f.Contains(pc) {
			return 0, false
		}
		return f.Start + f.Len, true
	}
	s.once.Do(func() { s.index.build(s) })
	i := s.index.position(pc)
	if i == 0 || s.fdeAt(s.index.entries[i-1], &f) != nil || f.Contains(pc) {
		return 0, false
	}
	return f.Start + f.Len, true
}
