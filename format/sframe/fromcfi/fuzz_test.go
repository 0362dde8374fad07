package fromcfi_test

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// FuzzContents translates arbitrary bytes. The encoded section, if there is one, must agree with
// every row.
func FuzzContents(f *testing.F) {
	for i, name := range []string{"../../cfi/testdata/arm64-pauth.so", "../../cfi/testdata/s390x.so", "../../../testdata/bin/plt-v3", "testdata/signal.so"} {
		file, err := elf.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		section := file.Section(".eh_frame")
		data, err := section.Data()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, section.Addr, uint8([]sframe.ABI{sframe.AArch64LE, sframe.S390X, sframe.AMD64, sframe.AMD64}[i]), false)
		file.Close()
	}
	f.Fuzz(func(t *testing.T, data []byte, addr uint64, a uint8, debug bool) {
		bounds.Hold(t, 1<<20+8<<10*len(data), func() { translate(t, data, addr, a, debug) })
	})
}

func translate(t *testing.T, data []byte, addr uint64, a uint8, debug bool) {
	abi := sframe.ABI(a%4 + 1)
	opts := cfi.Options{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: trad.Reg(abi.FP()), PAuth: abi <= sframe.AArch64LE}}
	if abi == sframe.AArch64BE || abi == sframe.S390X {
		opts.Order = binary.BigEndian
	}
	kind := cfi.EH
	if debug {
		kind = cfi.Debug
	}
	section, err := cfi.Open(kind, data, addr, opts)
	if err != nil {
		t.Fatal(err)
	}
	source := fromcfi.Source{ABI: abi, Sections: []*cfi.Section{section}}
	c, _ := source.Contents()
	for _, v := range []sframe.Version{sframe.V3, sframe.V2} {
		converted, lost := c.Convert(v)
		if converted == nil {
			t.Fatal(lost)
		}
		// A start address may be too far for V2, or the section too large.
		encoded, err := converted.Encode(addr)
		if err != nil {
			continue
		}
		s, err := sframe.Open(encoded, addr)
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, &source, s, len(converted.Functions) == len(c.Functions))
	}
}

// checkRows compares a section with the rows that it was made of.
func checkRows(t *testing.T, source *fromcfi.Source, s *sframe.Section, whole bool) {
	fdes, _ := source.FDEs()
	for i := range fdes {
		if i > 0 && fdes[i].Start < fdes[i-1].Hi {
			t.Fatalf("FDE at %#x overlaps that at %#x", fdes[i].Start, fdes[i-1].Start)
		}
		rows, ok := 0, true
		for row, err := range source.Rows(&fdes[i]) {
			if rows++; err != nil || row.Reason != "" || rows > 64 {
				ok = false
				break
			}
		}
		if !ok || !whole || fdes[i].Size() > 1<<32-1 {
			continue
		}
		for row := range source.Rows(&fdes[i]) {
			for _, pc := range []uint64{row.Lo, row.Hi() - 1} {
				got, err := s.Find(pc)
				if err != nil {
					t.Fatalf("Find(%#x): %v, want %v", pc, err, row.Row)
				}
				flags := got.Flags &^ sframe.RowPCMask
				if row.Flags&sframe.RowMangledRA == 0 || got.Flags&sframe.RowOutermost != 0 {
					flags = flags&^sframe.RowPauthB | row.Flags&sframe.RowPauthB
				}
				if got.CFA != row.CFA || got.RA != row.RA || got.FP != row.FP || flags != row.Flags && s.Version == sframe.V3 {
					t.Fatalf("Find(%#x) = %v, want %v", pc, got, row.Row)
				}
			}
		}
	}
}
