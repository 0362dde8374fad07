package sframe

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// golden is the output of objdump --sframe for a section, see testdata/make.sh.
type golden struct {
	addr             uint64
	version          string
	flags            []string
	fixedFP, fixedRA int
	showsFixed       bool // objdump 2.42 does not show the fixed offsets, 2.44 does
	numFDEs, numFREs uint64
	fdes             []goldenFDE
}

type goldenFDE struct {
	start, size uint64
	mask        bool
	attr        string // "F" flexible, "S" signal (V3)
	pauthB      bool
	fres        []goldenFRE
}

type goldenFRE struct {
	at          uint64 // absolute, or within the block (mask)
	cfa, fp, ra string
	mangled     bool
}

var (
	sectionLine = regexp.MustCompile(`\.sframe +\S+ +([0-9a-f]{16}) `)
	funcLine    = regexp.MustCompile(`^func idx \[(\d+)\]: pc = 0x([0-9a-f]+), size = (\d+) bytes(.*)$`)
)

func parseGolden(t testing.TB, text []byte) *golden {
	t.Helper()
	g := new(golden)
	num := func(s string, base int) uint64 {
		n, err := strconv.ParseUint(s, base, 64)
		if err != nil {
			t.Fatalf("dump: %v", err)
		}
		return n
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	inFlags := false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			g.addr = num(m[1], 16)
			continue
		}
		if m := funcLine.FindStringSubmatch(line); m != nil {
			if int(num(m[1], 10)) != len(g.fdes) {
				t.Fatalf("dump: %q out of order", line)
			}
			f := goldenFDE{start: num(m[2], 16), size: num(m[3], 10)}
			f.pauthB = strings.Contains(m[4], "B key")
			if _, attr, ok := strings.Cut(m[4], `attr = "`); ok {
				f.attr = strings.TrimSuffix(attr, `"`)
			}
			g.fdes = append(g.fdes, f)
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case name == "Version":
			g.version = value
		case name == "Flags":
			g.flags = append(g.flags, strings.TrimSuffix(value, ","))
			inFlags = true
			continue
		case inFlags && strings.HasPrefix(line, "SFRAME_F_"):
			g.flags = append(g.flags, strings.TrimSuffix(line, ","))
			continue
		case name == "CFA fixed RA offset":
			g.fixedRA, _ = strconv.Atoi(value)
			g.showsFixed = true
		case name == "CFA fixed FP offset":
			g.fixedFP, _ = strconv.Atoi(value)
			g.showsFixed = true
		case name == "Num FDEs":
			g.numFDEs = num(value, 10)
		case name == "Num FREs":
			g.numFREs = num(value, 10)
		case strings.HasPrefix(line, "STARTPC[m]"):
			g.fdes[len(g.fdes)-1].mask = true
		case len(fields[0]) == 16 && len(g.fdes) > 0:
			f := &g.fdes[len(g.fdes)-1]
			e := goldenFRE{at: num(fields[0], 16)}
			switch {
			case strings.HasSuffix(line, "RA undefined"):
				e.ra = "undefined"
			case len(fields) >= 4:
				e.cfa, e.fp, e.ra = fields[1], fields[2], fields[3]
				e.ra, e.mangled = strings.CutSuffix(e.ra, "[s]")
			default:
				t.Fatalf("dump: cannot read row %q", line)
			}
			f.fres = append(f.fres, e)
		}
		inFlags = false
	}
	if len(g.fdes) == 0 || uint64(len(g.fdes)) != g.numFDEs {
		t.Fatalf("dump: %d functions read, %d announced", len(g.fdes), g.numFDEs)
	}
	return g
}

// notation writes a rule as objdump does. The caller handles rules without a data word.
func notation(s *Section, r Rule) string {
	reg := func() string {
		switch r.Reg {
		case s.ABI.SP():
			return "sp"
		case s.ABI.FP():
			return "fp"
		}
		return fmt.Sprintf("r%d", r.Reg)
	}
	switch r.Kind {
	case RuleInReg:
		return fmt.Sprintf("%s%+d", reg(), r.Off)
	case RuleSavedAt:
		return fmt.Sprintf("(%s%+d)", reg(), r.Off)
	case RuleSaved:
		return fmt.Sprintf("c%+d", r.Off)
	}
	return r.Kind.String()
}

// sameRules compares rules with objdump's columns. objdump writes "u" or "f" for a rule without a
// data word and "U" for a padding word. Such a rule must be the header's fixed offset or, if there
// is none, an unchanged register.
func sameRules(t testing.TB, s *Section, where string, want goldenFRE, cfa, ra, fp Rule) {
	t.Helper()
	fixed := func(off int8) Rule {
		if off != 0 {
			return Rule{Kind: RuleSaved, Off: int32(off)}
		}
		return Rule{Kind: RuleSame}
	}
	if want.ra == "undefined" {
		if (cfa != Rule{} || fp != Rule{} || ra != Rule{Kind: RuleUndefined}) {
			t.Errorf("%s: CFA=%v RA=%v FP=%v, objdump: RA undefined", where, cfa, ra, fp)
		}
		return
	}
	if got := notation(s, cfa); got != want.cfa {
		t.Errorf("%s: CFA %s, objdump %s", where, got, want.cfa)
	}
	for _, c := range []struct {
		name, want string
		got, fixed Rule
	}{{"RA", want.ra, ra, fixed(s.FixedRA)}, {"FP", want.fp, fp, fixed(s.FixedFP)}} {
		switch c.want {
		case "u", "U", "f":
			if c.got != c.fixed {
				t.Errorf("%s: %s %v, objdump %s", where, c.name, c.got, c.want)
			}
		default:
			got := notation(s, c.got)
			if s.Version == V2 && c.got.Kind == RuleInReg { // s390x: never with an offset
				got = strings.TrimSuffix(got, "+0")
			}
			if got != c.want {
				t.Errorf("%s: %s %s, objdump %s", where, c.name, got, c.want)
			}
		}
	}
}

// sameSection compares every field that objdump shows, and Find for every PC of the text and around
// it.
func sameSection(t *testing.T, s *Section, g *golden) {
	t.Helper()
	flags := s.Flags.String()
	if want := strings.Join(g.flags, "|"); flags != want && !(flags == "0" && want == "NONE") {
		t.Errorf("flags %s, objdump %s", flags, want)
	}
	if s.Version.String() != g.version || uint64(s.NumFDEs) != g.numFDEs || uint64(s.NumFREs) != g.numFREs {
		t.Errorf("%v, %d FDEs, %d FREs; objdump %s, %d, %d", s.Version, s.NumFDEs, s.NumFREs, g.version, g.numFDEs, g.numFREs)
	}
	if g.showsFixed && (int(s.FixedRA) != g.fixedRA || int(s.FixedFP) != g.fixedFP) {
		t.Errorf("fixed RA %d, FP %d; objdump %d, %d", s.FixedRA, s.FixedFP, g.fixedRA, g.fixedFP)
	}

	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		want := g.fdes[f.Index]
		name := fmt.Sprintf("FDE %d", f.Index)
		if f.Start != want.start || uint64(f.Size) != want.size || int(f.NumFREs) != len(want.fres) ||
			(f.PCType == PCMask) != want.mask || (f.Type == FDEFlex) != strings.Contains(want.attr, "F") ||
			f.Signal != strings.Contains(want.attr, "S") || (f.PauthKey == PauthB) != want.pauthB {
			t.Fatalf("%s: %+v, objdump %+v", name, f, want)
		}
		n := 0
		for e, err := range s.FREs(f) {
			if err != nil {
				t.Fatal(err)
			}
			at := uint64(e.Offset)
			if !want.mask {
				at += f.Start
			}
			where := fmt.Sprintf("%s: FRE %d", name, n)
			if at != want.fres[n].at || e.Info.MangledRA() != want.fres[n].mangled {
				t.Errorf("%s: at %#x, mangled %t; objdump %+v", where, at, e.Info.MangledRA(), want.fres[n])
			}
			sameRules(t, s, where, want.fres[n], e.CFA, e.RA, e.FP)
			n++
		}
		if n != len(want.fres) {
			t.Errorf("%s: %d FREs, objdump %d", name, n, len(want.fres))
		}
	}
	sameFinds(t, s, g)
}

func sameFinds(t *testing.T, s *Section, g *golden) {
	t.Helper()
	covered := func(pc uint64) bool {
		for _, f := range g.fdes {
			if pc >= f.start && pc < f.start+f.size {
				return true
			}
		}
		return false
	}
	for i, f := range g.fdes {
		for _, pc := range []uint64{f.start - 1, f.start + f.size, f.start + 1<<32, f.start ^ 1<<63} {
			if _, err := s.Find(pc); !covered(pc) && err != ErrNoFDE {
				t.Errorf("Find(%#x), in no function: %v", pc, err)
			}
		}
		var last Row // has been compared
		for pc := f.start; pc < f.start+f.size && !t.Failed(); pc++ {
			fde, err := s.FindFDE(pc)
			if err != nil || fde.Start != f.start {
				t.Fatalf("FindFDE(%#x): %+v, %v; objdump: FDE %d", pc, fde, err, i)
			}
			// The row that starts last before pc, and the one after it, in objdump's table.
			key, base, end := pc, uint64(0), f.start+f.size
			if f.mask {
				rep := uint64(fde.RepSize)
				key = (pc - f.start) % rep
				base = pc - key
				end = min(base+rep, end)
			}
			hit := -1
			for k, e := range f.fres {
				if e.at > key {
					end = base + e.at
					break
				}
				hit = k
			}
			row, err := s.Find(pc)
			if hit < 0 {
				if err != ErrNoRow {
					t.Fatalf("Find(%#x), before the first FRE: %v, %v", pc, row, err)
				}
				continue
			}
			want := f.fres[hit]
			if err != nil || row.Lo != base+want.at || row.Lo+uint64(row.Len) != end {
				t.Fatalf("Find(%#x): %v, %v; objdump's row is [%#x,%#x)", pc, row, err, base+want.at, end)
			}
			if row == last {
				continue
			}
			last = row
			where := fmt.Sprintf("Find(%#x)", pc)
			sameRules(t, s, where, want, row.CFA, row.RA, row.FP)
			for _, b := range []struct {
				flag RowFlags
				want bool
			}{
				{RowSignal, strings.Contains(f.attr, "S")}, {RowOutermost, want.ra == "undefined"},
				{RowMangledRA, want.mangled}, {RowPauthB, fde.PauthKey == PauthB}, {RowPCMask, f.mask},
			} {
				if (row.Flags&b.flag != 0) != b.want {
					t.Errorf("%s: flags %v, expected %v=%t", where, row.Flags, b.flag, b.want)
				}
			}
		}
	}
}

func openFixture(t testing.TB, name string) (*Section, *golden) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".sframe"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", name+".dump"))
	if err != nil {
		t.Fatal(err)
	}
	g := parseGolden(t, text)
	s, err := Open(data, g.addr)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Data) != len(data) {
		t.Errorf("%s: the header gives %d bytes, the linker %d", name, len(s.Data), len(data))
	}
	return s, g
}
