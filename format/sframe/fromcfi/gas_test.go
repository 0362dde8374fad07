package fromcfi_test

import (
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/object"
)

// TestAssembler compares with the sections that binutils 2.47 made of the same directives. Both
// must have the same rules for every PC. The rows may differ: the assembler also begins one where a
// register changes that SFrame does not track, and the linker divides PLTs into blocks.
func TestAssembler(t *testing.T) {
	for _, name := range []string{"amd64-v3", "arm64-v3", "arm64be-v3", "s390x-v3"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "..", "..", "internal", "sframeverify", "testdata", name+".so")
			im, file, err := elf.OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			sections, err := object.Sections(im, object.AsLinked(im))
			if err != nil || len(sections) != 1 {
				t.Fatal(sections, err)
			}
			want := sections[0]
			got, left := encoded(t, open(t, path), sframe.V3)
			if left != nil {
				t.Errorf("left out: %v", left)
			}
			if got.ABI != want.ABI || got.Flags != want.Flags || got.FixedRA != want.FixedRA || got.FixedFP != want.FixedFP {
				t.Errorf("header %v %v %d %d, want %v %v %d %d", got.ABI, got.Flags, got.FixedRA, got.FixedFP, want.ABI, want.Flags, want.FixedRA, want.FixedFP)
			}
			pcs := uint64(0)
			for fde, err := range want.FDEs() {
				if err != nil {
					t.Fatal(err)
				}
				for pc := fde.Start; pc < fde.Start+uint64(fde.Size); pc++ {
					a, errA := got.Find(pc)
					b, errB := want.Find(pc)
					if errA != errB || a.CFA != b.CFA || a.RA != b.RA || a.FP != b.FP || (a.Flags^b.Flags)&^sframe.RowPCMask != 0 {
						t.Fatalf("%#x: %v %v, binutils has %v %v", pc, a, errA, b, errB)
					}
				}
				pcs += uint64(fde.Size)
			}
			for fde := range got.FDEs() {
				pcs -= uint64(fde.Size)
			}
			if want.NumFDEs < 20 || pcs != 0 {
				t.Errorf("%d FDEs; binutils' cover %d bytes more", want.NumFDEs, int64(pcs))
			}
		})
	}
}
