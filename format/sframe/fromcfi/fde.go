package fromcfi

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/format/cfi"
)

// An FDE is a cfi.FDE cut to the code for which no other FDE counts.
type FDE struct {
	cfi.FDE
	Hi      uint64 // address behind the last byte of code that counts
	section *cfi.Section
}

// Size returns the number of bytes of code.
func (f *FDE) Size() uint64 { return f.Hi - f.Start }

// FDEs returns the FDEs in ascending order, without overlaps. Where FDEs of one section overlap,
// the one that starts last counts, as in [cfi.Section.Find]. An FDE that overlaps with one of an
// earlier section does not count at all. FDEs without code are left out. errs has an error for each
// FDE that cannot be read.
func (s *Source) FDEs() (fdes []FDE, errs []error) {
	for _, section := range s.Sections {
		var list []FDE
		for f, err := range section.FDEs() {
			if err != nil {
				errs = append(errs, err)
			} else if f.Len > 0 {
				list = append(list, FDE{f, f.Start + f.Len, section})
			}
		}
		slices.SortFunc(list, func(a, b FDE) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Offset, b.Offset))
		})
		for i := 1; i < len(list); i++ {
			list[i-1].Hi = min(list[i-1].Hi, list[i].Start)
		}
		list = slices.DeleteFunc(list, func(f FDE) bool { return f.Hi == f.Start })
		fdes = fill(fdes, list)
	}
	return fdes, errs
}

// fill adds to fdes each FDE of more that overlaps with none of fdes. Both lists are ascending.
func fill(fdes, more []FDE) []FDE {
	if len(fdes) == 0 {
		return more
	}
	first, i := fdes, 0
	for _, f := range more {
		for i < len(first) && first[i].Hi <= f.Start {
			i++
		}
		if i == len(first) || f.Hi <= first[i].Start {
			fdes = append(fdes, f)
		}
	}
	slices.SortFunc(fdes, func(a, b FDE) int { return cmp.Compare(a.Start, b.Start) })
	return fdes
}
