package sframe

import (
	"cmp"
	"slices"
)

// minFRESize is the size of the smallest FRE: a start offset of one byte, the
// info byte, and no data words.
const minFRESize = 2

// Contents reads the whole section. Only the auxiliary header of the result refers to the section's
// bytes. The error says which FDE or FRE is the first that cannot be read. FDEs that share FREs are
// an error, too; this keeps the result below some 40 times the section's size.
func (s *Section) Contents() (*Contents, error) {
	c := &Contents{
		Version: s.Version, ABI: s.ABI, Flags: s.Flags,
		FixedFP: s.FixedFP, FixedRA: s.FixedRA, AuxHeader: s.AuxHeader,
		Functions: make([]Function, 0, s.NumFDEs),
	}
	fdes := make([]FDE, 0, s.NumFDEs)
	left := int64(s.fresLen / minFRESize)
	for f, err := range s.FDEs() {
		if err != nil {
			return nil, err
		}
		if left -= int64(f.NumFREs); left < 0 {
			return nil, s.shared(&f)
		}
		fdes = append(fdes, f)
	}
	if s.Flags&FDESorted != 0 {
		// FDEs are in the order of their starts, their FREs in the order of Contents.Functions. A
		// function without FREs comes before the one that has the next FREs.
		slices.SortStableFunc(fdes, func(a, b FDE) int {
			return cmp.Or(cmp.Compare(a.FREOff, b.FREOff), cmp.Compare(min(a.NumFREs, 1), min(b.NumFREs, 1)))
		})
	}
	for _, f := range fdes {
		fn := Function{
			Start: f.Start, Size: f.Size,
			PCType: f.PCType, RepSize: f.RepSize, PauthKey: f.PauthKey, Signal: f.Signal,
			Type: f.Type, FREType: f.FREType,
		}
		if f.NumFREs != 0 {
			fn.Entries = make([]Entry, 0, f.NumFREs)
		}
		for e, err := range s.FREs(f) {
			if err != nil {
				return nil, err
			}
			fn.Entries = append(fn.Entries, Entry{e.Offset, e.Info.MangledRA(), e.CFA, e.RA, e.FP})
		}
		c.Functions = append(c.Functions, fn)
	}
	return c, nil
}

// shared returns the error of an FDE whose FREs cannot all be its own.
func (s *Section) shared(f *FDE) error {
	return s.fdeError(f.Index, 0, ErrMalformed,
		"%d FREs, but those before leave no room for them in the FRE sub-section (%#x bytes): FREs are shared", f.NumFREs, s.fresLen)
}
