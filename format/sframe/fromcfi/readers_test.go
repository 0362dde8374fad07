package fromcfi_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestStrictReaders: the strictest readers take the V3 sections made of CFI. One is Linux's
// (kernel/unwind/sframe.c, with its check of sections). It wants FDEs that ascend and count from
// their own fields, no auxiliary header, FREs that ascend within their function, and no data word
// too many. The other is libsframe's, which finds nothing in a function without FREs. Only a signal
// frame may be such a function: both readers take it for a trampoline whose rules are unknown.
func TestStrictReaders(t *testing.T) {
	for _, tt := range []struct {
		path      string
		outermost int // least number of FREs without data words
		signal    int // signal frames without FREs
	}{
		{"/lib/x86_64-linux-gnu/libc.so.6", 1, 0},
		{"/usr/bin/gdb", 1, 0},
		{"../../../testdata/bin/restorer-v3", 1, 0},
		{"../../../testdata/bin/mix-v2", 1, 0},
		{"../../../testdata/guests/restorer-arm64-v3", 1, 0},
		{"../../../testdata/guests/restorer-s390x-v3", 1, 0},
		{"../../../internal/sframeverify/testdata/arm64-v2.so", 1, 0},
		{"../../../internal/sframeverify/testdata/arm64be-v3.so", 1, 0},
		{"../../../internal/sframeverify/testdata/amd64-v3.so", 1, 0},
		{"../../../internal/sframeverify/testdata/s390x-v3.so", 1, 0},
		{"testdata/signal.so", 0, 1},
	} {
		t.Run(filepath.Base(tt.path), func(t *testing.T) {
			c, _ := open(t, gdbtest.File(t, tt.path)).Contents()
			section := fitted(t, c)
			outermost, signal := 0, 0
			if why := strict(section, &outermost, &signal); why != "" {
				t.Error(why)
			}
			if outermost < tt.outermost || signal != tt.signal {
				t.Errorf("%d outermost rows, want %d at least; %d signal frames without rows, want %d", outermost, tt.outermost, signal, tt.signal)
			}
		})
	}
}

// strict reports the parts that a strict reader refuses, and counts outermost FREs and signal
// frames without FREs.
func strict(s *sframe.Section, outermost, signal *int) string {
	const flags = sframe.FDESorted | sframe.FDEFuncStartPCRel
	if s.Version != sframe.V3 || s.Flags != flags || s.AuxHeader != nil || s.NumFDEs == 0 || s.NumFREs == 0 || s.FREOff < s.FDEOff+16*s.NumFDEs {
		return fmt.Sprintf("header %+v", s.Header)
	}
	fres, last := uint32(0), uint64(0)
	for f, err := range s.FDEs() {
		if err != nil || f.Start <= last || f.Size == 0 {
			return fmt.Sprintf("FDE %+v after one at %#x: %v", f, last, err)
		}
		last = f.Start
		fres += f.NumFREs
		if f.NumFREs == 0 {
			if *signal++; !f.Signal {
				return fmt.Sprintf("FDE %+v has no FREs", f)
			}
		}
		limit, before := f.Size, int64(-1)
		if f.PCType == sframe.PCMask {
			limit = uint32(f.RepSize)
		}
		for e, err := range s.FREs(f) {
			if err != nil || int64(e.Offset) <= before || e.Offset >= limit {
				return fmt.Sprintf("FRE %+v of %+v after one at %#x: %v", e, f, before, err)
			}
			before = int64(e.Offset)
			n := e.Info.NumWords()
			if n == 0 {
				*outermost++
				continue
			}
			if used := wordsUsed(s, &f, &e); used != n {
				return fmt.Sprintf("FRE %+v of %+v: %d data words, and %d are read", e, f, n, used)
			}
			if zero := (sframe.Rule{Kind: sframe.RuleSaved}); f.Type == sframe.FDEDefault && (e.RA == zero || e.FP == zero) {
				return fmt.Sprintf("FRE %+v of %+v: an offset of 0 is taken for none", e, f)
			}
		}
	}
	if fres != s.NumFREs {
		return fmt.Sprintf("%d FREs, the header says %d", fres, s.NumFREs)
	}
	return ""
}

// wordsUsed returns how many data words Linux's reader takes.
func wordsUsed(s *sframe.Section, f *sframe.FDE, e *sframe.FRE) int {
	n := e.Info.NumWords()
	if f.Type == sframe.FDEDefault {
		most := 1
		for _, fixed := range []int8{s.FixedRA, s.FixedFP} {
			if fixed == 0 {
				most++
			}
		}
		return min(n, most)
	}
	size := e.Info.WordSize()
	zero := func(i int) bool {
		for _, b := range e.Words[i*size : (i+1)*size] {
			if b != 0 {
				return false
			}
		}
		return true
	}
	used := 2     // the CFA's
	for range 2 { // RA's, FP's
		if n-used >= 2 && zero(used) {
			used++
		} else if n-used >= 2 {
			used += 2
		}
	}
	return used
}

// The trampoline of testdata/signal.so, and the function behind it.
const signalLo, signalHi = 0x1bd, 0x1c5

// fitted returns the section that `sfwalk sframe gen` makes.
func fitted(t *testing.T, c *sframe.Contents) *sframe.Section {
	t.Helper()
	c, _, err := fromcfi.Fit(c, sframe.V3)
	if err != nil {
		t.Fatal(err)
	}
	const addr = 0x10000000
	data, err := c.Encode(addr)
	if err != nil {
		t.Fatal(err)
	}
	section, err := sframe.Open(data, addr)
	if err != nil {
		t.Fatal(err)
	}
	return section
}

// TestSignalLeftOut: if SFrame has no form for a signal frame, V3 only marks it as one, and V2 has
// nothing about it. testdata/README.md has the directives.
func TestSignalLeftOut(t *testing.T) {
	for _, v := range []sframe.Version{sframe.V3, sframe.V2} {
		section, left := encoded(t, open(t, "testdata/signal.so"), v)
		want := sframe.ErrSignalFrame
		if v == sframe.V2 {
			want = sframe.ErrNoFDE
		}
		for pc := uint64(signalLo); pc < signalHi; pc++ {
			if row, err := section.Find(pc); err != want {
				t.Errorf("%v: %#x: %v, %v", v, pc, row, err)
			}
		}
		if _, err := section.Find(signalHi); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		if v == sframe.V3 && (len(left) != 1 || left[0].Start != signalLo || left[0].Size != signalHi-signalLo) {
			t.Errorf("left out: %v", left)
		}
	}
}
