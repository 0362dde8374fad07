package sframe

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/format/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzSection reads what it can of any bytes. A row that Find gives must hold for the PC, and come
// from an FRE in an FDE that covers the PC. The test finds the FDE and the FRE by reading them in
// order.
func FuzzSection(f *testing.F) {
	for _, fx := range fixtures {
		s, _ := openFixture(f, fx.name)
		f.Add(s.Data, s.Addr)
		unsorted := append([]byte(nil), s.Data...)
		unsorted[3] &^= byte(FDESorted)
		f.Add(unsorted, s.Addr)
	}
	f.Add(withoutFREs(f, little, AMD64), uint64(0x2000))
	f.Add(withoutFREs(f, big, S390X), uint64(0x2000))
	one := withoutFREs(f, little, AMD64)
	f.Add(append(append(append([]byte(nil), one...), 0, 0, 0, 0), one...), uint64(0x2000))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		bounds.Hold(t, 256<<10+16*len(data), func() { checkSection(t, data, addr) })
		bounds.Hold(t, 256<<10+16*len(data), func() { checkParts(t, data, addr) })
	})
}

// checkParts: the parts of a section lie one behind the other, and the first is what Open opens.
func checkParts(t *testing.T, data []byte, addr uint64) {
	list, err := OpenParts(data, addr)
	first, firstErr := Open(data, addr)
	if (len(list) == 0) != (firstErr != nil) || len(list) == 0 && err == nil || first != nil && len(first.Data) != len(list[0].Data) {
		t.Fatalf("%d parts, %v; Open: %v", len(list), err, firstErr)
	}
	at := addr
	for i, p := range list {
		if p.Addr-addr < at-addr || p.Addr-addr+uint64(len(p.Data)) > uint64(len(data)) {
			t.Errorf("part %d: %d bytes at %#x", i, len(p.Data), p.Addr)
		}
		at = p.Addr + uint64(len(p.Data))
	}
}

func checkSection(t *testing.T, data []byte, addr uint64) {
	s, err := Open(data, addr)
	if err != nil {
		if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("Open: %v", err)
		}
		return
	}
	var covers []FDE
	sorted := s.Flags&FDESorted != 0
	first, last := int64(0), int64(0) // the lowest and the highest start, relative to the section
	steps := 0                        // many FDEs may share long runs of FREs
	for fde, err := range s.FDEs() {
		if err == nil {
			for _, err := range s.FREs(fde) {
				steps++
				checkFormatError(t, err)
			}
		}
		checkFormatError(t, err)
		sorted = sorted && (len(covers) == 0 || int64(covers[len(covers)-1].Start-addr) <= int64(fde.Start-addr))
		covers = append(covers, fde)
		first, last = min(first, int64(fde.Start-addr)), max(last, int64(fde.Start-addr))
		for _, pc := range []uint64{fde.Start, fde.Start + uint64(fde.Size/2), fde.Start + uint64(fde.Size) - 1, fde.Start + uint64(fde.Size)} {
			checkFind(t, s, pc)
			steps += int(fde.NumFREs)
		}
		if steps > 1<<14 {
			return
		}
	}
	for _, pc := range []uint64{0, addr, addr - 1, addr ^ 1<<63, 1<<64 - 1} {
		checkFind(t, s, pc)
		s.EndBefore(pc)
	}
	const far = 1<<63 - 1<<32 // further apart, PCs and starts are searched in vain, as search says
	if uint64(last-first) < far && (sorted || s.Flags&FDESorted == 0) {
		for _, fde := range covers[:min(len(covers), 64)] {
			checkCovers(t, s, covers, fde.Start+uint64(fde.Size/2))
			checkCovers(t, s, covers, fde.Start+uint64(fde.Size))
			checkPaged(t, s, fde.Start+uint64(fde.Size/2))
			checkPaged(t, s, fde.Start+uint64(fde.Size))
		}
	}
}

// checkPaged: a section that is read page by page has the same row.
func checkPaged(t *testing.T, s *Section, pc uint64) {
	t.Helper()
	list, err := OpenPages(pages.New(bytes.NewReader(s.Data), len(s.Data)), s.Addr)
	if len(list) == 0 {
		t.Fatal(err)
	}
	row, err := list[0].Find(pc)
	if want, wantErr := s.Find(pc); row != want || (err == nil) != (wantErr == nil) {
		t.Fatalf("by pages: Find(%#x) = %+v, %v; want %+v, %v", pc, row, err, want, wantErr)
	}
}

// checkCovers looks for pc in all FDEs, one after the other. FindFDE must find the FDE that covers
// pc and begins last. Where FDEs begin at the same address, or overlap, it may find another, or
// none.
func checkCovers(t *testing.T, s *Section, all []FDE, pc uint64) {
	t.Helper()
	var want *FDE
	for i := range all {
		f := &all[i]
		if pc-f.Start < uint64(f.Size) && (want == nil || int64(f.Start-s.Addr) >= int64(want.Start-s.Addr)) {
			want = f
		}
	}
	overlap := false
	if want != nil {
		for i := range all {
			f := &all[i]
			overlap = overlap || f != want && f.Size > 0 && f.Start-want.Start <= pc-want.Start
		}
	}
	got, err := s.FindFDE(pc)
	switch {
	case want == nil && err != ErrNoFDE:
		t.Fatalf("FindFDE(%#x): %+v, %v, but none covers it", pc, got, err)
	case want != nil && !overlap && (err == ErrNoFDE || err == nil && got.Start != want.Start):
		t.Fatalf("FindFDE(%#x): %+v, %v; %+v covers it", pc, got, err, want)
	}
}

func checkFormatError(t *testing.T, err error) {
	t.Helper()
	var fe *FormatError
	if err != nil && (!errors.As(err, &fe) || fe.Error() == "") {
		t.Fatalf("not a FormatError: %v", err)
	}
}

func checkFind(t *testing.T, s *Section, pc uint64) {
	t.Helper()
	row, err := s.Find(pc)
	fde, fdeErr := s.FindFDE(pc)
	if (err == ErrNoFDE) != (fdeErr == ErrNoFDE) {
		t.Fatalf("Find(%#x): %v, FindFDE: %v", pc, err, fdeErr)
	}
	switch {
	case err == ErrNoFDE:
		return
	case errors.Is(err, ErrNoRow):
		if (err == ErrSignalFrame) != fde.Signal {
			t.Fatalf("Find(%#x): %v in %+v", pc, err, fde)
		}
	case err != nil:
		checkFormatError(t, err)
		return
	}
	if fdeErr != nil || pc < fde.Start || pc-fde.Start >= uint64(fde.Size) {
		t.Fatalf("Find(%#x): %v, %v; FindFDE: %+v, %v", pc, row, err, fde, fdeErr)
	}
	key := pc - fde.Start
	if fde.PCType == PCMask {
		key %= uint64(fde.RepSize)
	}
	var hit *FRE
	for e := range s.FREs(fde) { // bad FREs before the one that holds do not matter
		if uint64(e.Offset) > key {
			break
		}
		hit = &e
	}
	if err != nil {
		if hit != nil {
			t.Fatalf("Find(%#x): no row, but %+v is before it", pc, *hit)
		}
		return
	}
	if pc < row.Lo || pc-row.Lo >= uint64(row.Len) || row.Lo+uint64(row.Len) < row.Lo ||
		row.Lo < fde.Start || row.Lo+uint64(row.Len) > fde.Start+uint64(fde.Size) {
		t.Fatalf("Find(%#x): %v is no part of %+v around it", pc, row, fde)
	}
	if hit == nil {
		if !fde.Outermost(s.Version) || row.RA.Kind != RuleUndefined {
			t.Fatalf("Find(%#x): %v, but no FRE is before it", pc, row)
		}
	} else if row.CFA != hit.CFA || row.RA != hit.RA || row.FP != hit.FP || row.Lo != pc-key+uint64(hit.Offset) {
		t.Fatalf("Find(%#x): %v, read in order: %+v", pc, row, *hit)
	}
}
