package unwindtables

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/sfwalk/sfwalk/format/sframe"
)

// part is one of several parts of a module's section, which a linker has only put one behind the
// other.
type part struct {
	*sframe.Section
	lo, hi uint64 // its functions lie in [lo, hi)
	most   uint64 // the highest hi of this part and of the parts before it
}

// newParts returns the parts of a section by address; nil if there is one alone.
func newParts(list []*sframe.Section) (parts []part) {
	if len(list) < 2 {
		return nil
	}
	for _, s := range list {
		p := part{Section: s, lo: ^uint64(0)}
		for f, err := range s.FDEs() {
			if err == nil && f.Size > 0 {
				p.lo, p.hi = min(p.lo, f.Start), max(p.hi, f.Start+uint64(f.Size))
			}
		}
		if p.lo < p.hi {
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.lo, b.lo) })
	most := uint64(0)
	for i := range parts {
		most = max(most, parts[i].hi)
		parts[i].most = most
	}
	return parts
}

// maxOverlap bounds the parts that a look-up tries: the functions of one object may lie among other
// objects' functions.
const maxOverlap = 64

// at calls try with the parts that may have an FDE for pc, until it returns true.
func (s *SFrame) at(pc uint64, try func(*sframe.Section) bool) {
	i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].lo > pc }) - 1
	for n := 0; i >= 0 && n < maxOverlap && s.parts[i].most > pc; i, n = i-1, n+1 {
		if pc < s.parts[i].hi && try(s.parts[i].Section) {
			return
		}
	}
}

// Find is [sframe.Section.Find] for all parts.
func (s *SFrame) Find(pc uint64) (sframe.Row, error) {
	if s.parts == nil {
		return s.Section.Find(pc)
	}
	row, err := sframe.Row{}, error(sframe.ErrNoFDE)
	s.at(pc, func(p *sframe.Section) bool {
		row, err = p.Find(pc)
		return err != sframe.ErrNoFDE
	})
	return row, err
}

// FindFDE is [sframe.Section.FindFDE] for all parts.
func (s *SFrame) FindFDE(pc uint64) (sframe.FDE, error) {
	if s.parts == nil {
		return s.Section.FindFDE(pc)
	}
	f, err := sframe.FDE{}, error(sframe.ErrNoFDE)
	s.at(pc, func(p *sframe.Section) bool {
		f, err = p.FindFDE(pc)
		return err != sframe.ErrNoFDE
	})
	return f, err
}

// EndBefore is [sframe.Section.EndBefore] for all parts.
func (s *SFrame) EndBefore(pc uint64) (end uint64, ok bool) {
	if s.parts == nil {
		return s.Section.EndBefore(pc)
	}
	i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].lo > pc }) - 1
	for n := 0; i >= 0 && n < maxOverlap; i, n = i-1, n+1 {
		p := &s.parts[i]
		if p.most <= pc {
			return max(end, p.most), true
		}
		at, is := p.hi, p.hi <= pc
		if !is {
			at, is = p.EndBefore(pc)
			if _, err := p.FindFDE(pc); err != sframe.ErrNoFDE {
				return 0, false
			}
		}
		if is {
			end, ok = max(end, at), true
		}
	}
	return end, ok
}

// FREs is [sframe.Section.FREs] for all parts. f is what FindFDE returned.
func (s *SFrame) FREs(f sframe.FDE) iter.Seq2[sframe.FRE, error] { return s.PartOf(&f).FREs(f) }

// PartOf returns the part that has f, which FindFDE returned.
func (s *SFrame) PartOf(f *sframe.FDE) (section *sframe.Section) {
	section = s.Section
	s.at(f.Start, func(p *sframe.Section) bool {
		if found, err := p.FindFDE(f.Start); err == nil && found == *f {
			section = p
			return true
		}
		return false
	})
	return section
}

// FDEs is [sframe.Section.FDEs] for all parts.
func (s *SFrame) FDEs() iter.Seq2[sframe.FDE, error] {
	if s.parts == nil {
		return s.Section.FDEs()
	}
	return func(yield func(sframe.FDE, error) bool) {
		for i := range s.parts {
			for f, err := range s.parts[i].FDEs() {
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// Promises reports whether all parts have a flag.
func (s *SFrame) Promises(flag sframe.Flags) bool {
	return s.Flags&flag != 0 && !slices.ContainsFunc(s.parts, func(p part) bool { return p.Flags&flag == 0 })
}
