package fromcfi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func open(t testing.TB, path string) *fromcfi.Source {
	t.Helper()
	im, file, err := elf.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s, err := fromcfi.Open(im)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// encoded returns the section made from a file's call frame information, and the functions that it
// leaves out.
func encoded(t testing.TB, s *fromcfi.Source, v sframe.Version) (*sframe.Section, []fromcfi.LeftOut) {
	t.Helper()
	c, out := s.Contents()
	converted, lost := c.Convert(v)
	for _, e := range lost {
		if e.Func < 0 {
			t.Fatal(e)
		}
		f := c.Functions[e.Func]
		out = append(out, fromcfi.LeftOut{Start: f.Start, Size: uint64(f.Size), Reason: e.Msg})
	}
	const addr = 0x10000000
	data, err := converted.Encode(addr)
	if err != nil {
		t.Fatal(err)
	}
	section, err := sframe.Open(data, addr)
	if err != nil {
		t.Fatal(err)
	}
	return section, out
}

// names are readelf's names of SP, FP, and of the return address column.
var names = map[sframe.ABI][3]string{
	sframe.AMD64:     {"rsp", "rbp", "ra"},
	sframe.AArch64LE: {"sp", "x29", "ra"},
	sframe.S390X:     {"r15", "r11", "ra"},
}

// differs compares a row with readelf's line. It leaves out expressions, which the line does not
// print.
func differs(abi sframe.ABI, r sframe.Row, want line) string {
	reg := func(n uint16) string {
		switch n {
		case abi.SP():
			return names[abi][0]
		case abi.FP():
			return names[abi][1]
		}
		if abi == sframe.AMD64 {
			return []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}[n&15]
		}
		return fmt.Sprint("r", n)
	}
	cell := func(r sframe.Rule) string {
		switch r.Kind {
		case sframe.RuleSaved:
			return fmt.Sprintf("c%+d", r.Off)
		case sframe.RuleValue:
			return fmt.Sprintf("v%+d", r.Off)
		case sframe.RuleInReg:
			return fmt.Sprint("r", r.Reg)
		}
		return "u" // nothing said, or undefined
	}
	if want.cfa != "exp" {
		if got := fmt.Sprintf("%s%+d", reg(r.CFA.Reg), r.CFA.Off); r.RA.Kind != sframe.RuleUndefined && (r.CFA.Kind != sframe.RuleInReg || got != want.cfa) {
			return fmt.Sprintf("CFA is %s, readelf says %s", r.CFA, want.cfa)
		}
	}
	for name, rule := range map[string]sframe.Rule{names[abi][1]: r.FP, names[abi][2]: r.RA} {
		w, ok := want.cells[name]
		if !ok || w == "s" {
			w = "u"
		}
		if r.RA.Kind == sframe.RuleUndefined && name != names[abi][2] {
			continue
		}
		if got := cell(rule); w != "exp" && w != "vexp" && got != w {
			return fmt.Sprintf("%s is %s, readelf says %s", name, rule, w)
		}
	}
	return ""
}

// TestReadelf compares the sections made from installed programs with readelf's interpretation of
// their .eh_frame: every line of every function, at its first and last byte.
func TestReadelf(t *testing.T) {
	for _, tt := range []struct {
		path string
		left int // of V3, at most
	}{
		// In the variants of longjmp and setcontext, SP comes from a buffer.
		{"/lib/x86_64-linux-gnu/libc.so.6", 8},
		{"/usr/bin/gdb", 0},
		{"/bin/ls", 0},
	} {
		for _, v := range []sframe.Version{sframe.V3, sframe.V2} {
			if tt.path == "/usr/bin/gdb" && v == sframe.V2 {
				continue // once is enough for a large one
			}
			t.Run(fmt.Sprintf("%s V%d", filepath.Base(tt.path), v), func(t *testing.T) {
				gdbtest.File(t, tt.path)
				lines := interpreted(t, tt.path, ".eh_frame")
				source := open(t, tt.path)
				section, left := encoded(t, source, v)
				checkLines(t, section, lines, left)
				if v == sframe.V3 && len(left) > tt.left {
					t.Errorf("%d functions left out: %v", len(left), left)
				}
			})
		}
	}
}

func checkLines(t *testing.T, section *sframe.Section, lines []line, left []fromcfi.LeftOut) {
	t.Helper()
	checked, expressions, missing, bad := 0, 0, 0, 0
	isLeft := func(pc uint64) bool {
		return slices.ContainsFunc(left, func(l fromcfi.LeftOut) bool { return pc-l.Start < l.Size })
	}
	for _, l := range lines {
		if l.lo >= l.hi {
			continue
		}
		for _, pc := range []uint64{l.lo, l.hi - 1} {
			row, err := section.Find(pc)
			if (err == sframe.ErrNoFDE || err == sframe.ErrSignalFrame) && isLeft(pc) {
				missing++
				continue
			}
			if err != nil {
				t.Fatalf("%#x: %v", pc, err)
			}
			d := differs(section.ABI, row, l)
			if signal := row.Flags&sframe.RowSignal != 0; signal != (len(l.aug) > 0 && l.aug[len(l.aug)-1] == 'S') {
				d = fmt.Sprintf("signal %v, augmentation %q", signal, l.aug)
			}
			if d != "" {
				if bad++; bad < 10 {
					t.Errorf("%#x: %s", pc, d)
				}
			}
			checked++
			if l.cfa == "exp" {
				expressions++
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d lines checked", checked/2)
	}
	t.Logf("%d lines, %d with an expression for the CFA, %d left out", checked/2, expressions/2, missing/2)
}

// TestFixtures does the same for other ABIs, with readelf's output from when the files were made.
func TestFixtures(t *testing.T) {
	for _, name := range []string{"arm64-pauth", "arm64-bkey", "arm64-debug", "s390x", "s390x-debug"} {
		t.Run(name, func(t *testing.T) {
			path := "../../cfi/testdata/" + name
			text, err := os.ReadFile(path + ".interp.txt")
			if err != nil {
				t.Fatal(err)
			}
			kind := ".eh_frame"
			if strings.HasSuffix(name, "debug") {
				kind = ".debug_frame"
			}
			section, left := encoded(t, open(t, path+".so"), sframe.V3)
			if len(left) > 0 {
				t.Errorf("left out: %v", left)
			}
			checkLines(t, section, parse(t, string(text), kind), left)
		})
	}
}
