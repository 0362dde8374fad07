package unwindtables

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/sframeverify"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestParts: both parts of a section count that lld has put one behind the other. They agree with
// the file's DWARF, and a look-up over all parts has the rows of the part that has the function.
func TestParts(t *testing.T) {
	im, file, err := elf.OpenFile(gdbtest.Testdata(t, "bin", "lld-v3"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := sframeverify.File(im)
	if err != nil || len(r.Versions) != 2 || len(r.Disagreements)+len(r.Problems) > 0 || r.Functions.Both != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	s := SFrameIn(im, amd64.Arch)
	if s.Section == nil || len(s.parts) != 2 {
		t.Fatalf("%v, %d parts", s.Err, len(s.parts))
	}
	compared := uint64(0)
	for _, p := range s.parts {
		for f, err := range p.FDEs() {
			if err != nil {
				t.Fatal(err)
			}
			for pc := f.Start; pc < f.Start+uint64(f.Size); pc++ {
				want, _ := p.Find(pc)
				row, err := s.Find(pc)
				if fde, fdeErr := s.FindFDE(pc); err != nil || fdeErr != nil || fde != f || row != want {
					t.Errorf("%#x: %+v (%v), want %+v", pc, row, err, want)
				}
				compared++
			}
		}
	}
	// Where no FDE is, the one before ends where the highest end of all FDEs before says.
	checked := 0
	for pc := s.parts[0].lo - 2; pc < s.parts[1].hi+2; pc++ {
		want, covered := uint64(0), false
		for f, err := range s.FDEs() {
			if end := f.Start + uint64(f.Size); err == nil && f.Start <= pc {
				want, covered = max(want, end), covered || end > pc
			}
		}
		end, ok := s.EndBefore(pc)
		if ok != (want > 0 && !covered) || ok && end != want {
			t.Errorf("%#x: the FDE before ends at %#x, %v; want %#x, covered %v", pc, end, ok, want, covered)
		}
		if ok {
			checked++
		}
	}
	if checked == 0 {
		t.Error("there is an FDE everywhere")
	}
	if compared != r.Compared {
		t.Errorf("%d bytes of code, DWARF has %d", compared, r.Compared)
	}
	for _, pc := range []uint64{0, s.parts[0].lo - 1, s.parts[1].hi} {
		if _, err := s.Find(pc); err != sframe.ErrNoFDE {
			t.Errorf("%#x: %v", pc, err)
		}
	}
}
