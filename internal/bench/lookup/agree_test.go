//go:build linux

package lookup

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// testPeer builds the peer, or skips the test, loudly.
func testPeer(t *testing.T) string {
	t.Helper()
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, _, err := buildPeer(d, false)
	if errors.Is(err, build.ErrMissing) {
		gdbtest.Missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestAgree: for every PC of the text, package sframe and sframe_find_fre find the same FRE with
// the same contents: in real sections of V3 of each ABI, in large ones made of this machine's
// libraries and programs, and in V2. (V2 without FDEFuncStartPCRel is not compared: libsframe 2.47
// takes its starts for relative to their fields.)
func TestAgree(t *testing.T) {
	program := testPeer(t)
	for _, fx := range []struct {
		name string
		addr uint64
	}{
		{"amd64-v3", 0x13a88}, {"arm64-v3", 0x13f40}, {"arm64be-v3", 0x13f40}, {"s390x-v3", 0x14140},
		{"amd64-v2-pcrel", 0x13a88}, {"s390x-v2", 0x14140},
	} {
		t.Run(fx.name, func(t *testing.T) {
			data, err := os.ReadFile("../../../format/sframe/testdata/" + fx.name + ".sframe")
			if err != nil {
				t.Fatal(err)
			}
			s, err := sframe.Open(data, fx.addr)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, program, s)
		})
	}
	for _, file := range large(t) {
		c, err := functionsOf(file)
		if err != nil {
			t.Fatal(err)
		}
		for v := sframe.V2; v <= sframe.V3; v++ {
			if raceDetector && v == sframe.V2 {
				continue
			}
			t.Run(strings.TrimPrefix(file, "/")+" in "+v.String(), func(t *testing.T) {
				out, _ := c.Convert(v)
				s, err := sectionOf(out, len(out.Functions))
				if err != nil {
					t.Fatal(err)
				}
				if s.NumFDEs < 2000 {
					t.Errorf("only %d functions", s.NumFDEs)
				}
				agree(t, program, s)
			})
		}
	}
}

// raceDetector makes look-ups slow, and these have no races to find.
var raceDetector bool

// large returns the C library, which is on every machine that has gcc, and with
// SFWALK_SOAK set gdb, which has thirteen million addresses more.
func large(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := []string{strings.TrimSpace(string(out))}
	if gdb, err := exec.LookPath("gdb"); err == nil && !raceDetector && os.Getenv("SFWALK_SOAK") != "" {
		files = append(files, gdb)
	}
	return files
}

// agree compares in pieces, of at most a million PCs each, and returns how many PCs there
// are.
func agree(t *testing.T, program string, s *sframe.Section) (total int) {
	t.Helper()
	var pcs []uint64
	flush := func() {
		compare(t, program, s, pcs)
		total += len(pcs)
		pcs = pcs[:0]
	}
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		// The byte before and the byte behind may be in no function.
		for pc := f.Start - 1; pc <= f.Start+uint64(f.Size); pc++ {
			if pcs = append(pcs, pc); len(pcs) == 1<<20 {
				flush()
			}
		}
		if t.Failed() {
			return total
		}
	}
	flush()
	t.Logf("%d FDEs, %d PCs", s.NumFDEs, total)
	return total
}

func compare(t *testing.T, program string, s *sframe.Section, pcs []uint64) {
	t.Helper()
	p, err := startPeer(program, t.TempDir(), s, pcs)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Errorf("the peer: %v", err)
		}
	}()
	if _, err := p.In.Write([]byte{'a'}); err != nil {
		t.Fatal(err)
	}
	var fde sframe.FDE
	var fres []sframe.FRE // of fde
	wrong := 0
	var a answer
	raw := make([]byte, answerSize)
	for i, pc := range pcs {
		if _, err := io.ReadFull(p.Out, raw); err != nil {
			t.Fatalf("answer %d of %d: %v", i, len(pcs), err)
		}
		a.decode(raw)
		row, err := s.Find(pc)
		if pc < fde.Start || pc-fde.Start >= uint64(fde.Size) {
			var fdeErr error
			fde, fdeErr = s.FindFDE(pc)
			fres = fres[:0]
			if fdeErr == nil {
				for e, err := range s.FREs(fde) {
					if err != nil {
						t.Fatal(err)
					}
					fres = append(fres, e)
				}
			}
		}
		if problem := differs(s, fde, fres, pc, row, err, &a); problem != "" {
			t.Errorf("%#x: %s: %v, %v; libsframe %+v", pc, problem, row, err, a)
			if wrong++; wrong > 5 {
				return
			}
		}
	}
}

// differs returns the first thing that libsframe reports differently, "" if there is none.
func differs(s *sframe.Section, fde sframe.FDE, fres []sframe.FRE, pc uint64, row sframe.Row, err error, a *answer) string {
	if err != nil {
		if a.found != 0 || err != sframe.ErrNoFDE && !errors.Is(err, sframe.ErrNoRow) {
			return "found"
		}
		return ""
	}
	if a.found == 0 {
		return "not found"
	}
	key := pc - fde.Start
	block := uint64(0)
	if fde.PCType == sframe.PCMask {
		block = key / uint64(fde.RepSize) * uint64(fde.RepSize)
	}
	var e *sframe.FRE
	for i := range fres {
		if fres[i].Offset == a.start {
			e = &fres[i] // the last one of those
		}
	}
	switch {
	case e == nil:
		return "no such FRE"
	case row.Lo != fde.Start+block+uint64(a.start) || pc-row.Lo >= uint64(row.Len):
		return "range"
	case uint8(e.Info) != a.info:
		return "info byte"
	case e.CFA != row.CFA || e.RA != row.RA || e.FP != row.FP:
		return "the row is not the FRE's"
	case e.Info.NumWords() > len(a.words):
		return "libsframe reads no more than 6 data words"
	}
	for i := range e.Info.NumWords() {
		var word uint32
		switch size := e.Info.WordSize(); size {
		case 1:
			word = uint32(e.Words[i])
		case 2:
			word = uint32(s.ByteOrder.Uint16(e.Words[2*i:]))
		case 4:
			word = s.ByteOrder.Uint32(e.Words[4*i:])
		}
		if word != a.words[i] {
			return "data words"
		}
	}
	if e.Info.NumWords() == 0 {
		return "" // outermost
	}
	if fde.Type == sframe.FDEFlex {
		return "" // the rules come from these words, which were compared
	}
	return differsDefault(s, row, a)
}

// differsDefault compares the rules of a Default FDE with libsframe's getters.
func differsDefault(s *sframe.Section, row sframe.Row, a *answer) string {
	errors, as := a.errors[sframe.FDEDefault], a.as[sframe.FDEDefault]
	sameAt := func(r sframe.Rule, off int32, failed bool, fixed int8) bool {
		switch {
		case r.Kind == sframe.RuleInReg: // V2 on s390x has the register in the offset
			return !failed && off == int32(r.Reg)<<1|1
		case r.Kind == sframe.RuleSame && !failed:
			return off == 0 // the offset of a place holder
		case failed:
			return r.Kind == sframe.RuleSame || fixed != 0 && r.Off == int32(fixed)
		}
		return r.Kind == sframe.RuleSaved && r.Off == off
	}
	switch {
	case errors&1 != 0 || row.CFA.Off != as.cfa || (row.CFA.Reg == s.ABI.SP()) != (a.info&1 != 0):
		return "CFA"
	case !sameAt(row.FP, as.fp, errors&2 != 0, s.FixedFP):
		return "FP"
	case !sameAt(row.RA, as.ra, errors&4 != 0, s.FixedRA):
		return "RA"
	}
	return ""
}
