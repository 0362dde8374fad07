package breakpad

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/xzfile"
)

// wordsAt is memory and registers for expressions: each word has twice its address.
type wordsAt map[string]uint64

func (w wordsAt) Register(name string) (v uint64, ok bool) { v, ok = w[name]; return v, ok }
func (w wordsAt) Word(addr uint64) (uint64, error)         { return 2 * addr, nil }

// TestProgram: what programs assign, as the specification and Breakpad's unit tests of its
// evaluator have it.
func TestProgram(t *testing.T) {
	env := wordsAt{"$ebp": 0x100, "$esp": 0x80, ".raSearch": 0x90}
	for _, x := range []struct {
		program string
		want    map[string]uint64
		saved   string // of these, each is at an address that the program dereferences last
	}{
		{"$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =", map[string]uint64{"$eip": 0x208, "$ebp": 0x200, "$esp": 0x108, "$T0": 0x100}, "$eip $ebp"},
		{"$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $20 $T0 8 - ^ =", map[string]uint64{"$eip": 0x120, "$esp": 0x94, "$20": 0x110}, "$eip $20"},
		{"$eip $ebp 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ =", map[string]uint64{"$eip": 0x208, "$esp": 0x108, "$ebp": 0x200}, "$eip $ebp"}, // the specification's
		{"$T0 $ebp 128 + =$eip $T0 4 + ^ =$ebp $T0 ^ =", map[string]uint64{"$eip": 0x308, "$ebp": 0x300}, "$eip $ebp"},
		{"$T1 .raSearch = $T0 $T1 4 - 8 @ = $esp $T1 4 + =", map[string]uint64{"$T0": 0x88, "$esp": 0x94}, ""},
		{"$ebp $ebp 4 + = $eip $ebp ^ =", map[string]uint64{"$ebp": 0x104, "$eip": 0x208}, "$eip"}, // one after the other
	} {
		p, err := ParseProgram(x.program)
		if err != nil {
			t.Errorf("%s: %v", x.program, err)
			continue
		}
		rules, err := p.Rules(nil)
		if err != nil {
			t.Errorf("%s: %v", x.program, err)
		}
		found := 0
		for _, r := range rules {
			v, err := r.Expr.Eval(env, 32)
			want, ok := x.want[r.Register]
			if ok {
				found++
			}
			if err != nil || ok && v != want {
				t.Errorf("%s: %s is %#x, %v; want %#x", x.program, r.Register, v, err, want)
			}
			if _, saved := r.Expr.Saved(); ok && saved != strings.Contains(" "+x.saved+" ", " "+r.Register+" ") {
				t.Errorf("%s: %s is saved: %v", x.program, r.Register, saved)
			}
		}
		if found != len(x.want) {
			t.Errorf("%s: %+v", x.program, rules)
		}
	}
	for _, bad := range []string{
		"$T0 $ebp", "$T0 $ebp = $eip $T0 4 + ^", "=", "$eip =", "4 $ebp =", ".raSearch $ebp =", "$eip $T0 + =", "^", "$eip .undef =", "$eip 99999999999999999999 =",
		strings.Repeat("$T0 $T0 + ", 600),
	} {
		if p, err := ParseProgram(bad); err == nil {
			t.Errorf("%.40s: %+v", bad, p)
		}
	}
	long, err := ParseProgram(strings.Repeat("$T0 $T0 $T0 + = ", 40))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Rules(nil); !errors.Is(err, errLongProgram) {
		t.Errorf("2^40 operands: %v", err)
	}
}

// TestRealPrograms: each program of a symbol file that Breakpad's dump_syms for Windows has written
// gives a return address and a stack pointer.
func TestRealPrograms(t *testing.T) {
	packed, err := os.ReadFile("../../testdata/breakpad/omap_reorder_bbs.sym.xz")
	if err != nil {
		t.Fatal(err)
	}
	file, err := xzfile.Open(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file.Reader())
	if err != nil {
		t.Fatal(err)
	}
	programs, places := 0, 0
	for line := range bytes.Lines(text) {
		record, err := ParseRecord(bytes.TrimRight(line, "\r\n"))
		w, is := record.(StackWin)
		if err != nil || !is || !w.HasProgram {
			continue
		}
		programs++
		p, err := ParseProgram(w.Program)
		if err != nil {
			t.Fatalf("%s: %v", w.Program, err)
		}
		rules, err := p.Rules(map[string]Expr{".raSearch": Plus("$esp", 8), ".raSearchStart": Plus("$esp", 8)})
		set := map[string]Expr{}
		for _, r := range rules {
			set[r.Register] = r.Expr
		}
		if _, saved := set["$eip"].Saved(); err != nil || !saved {
			t.Errorf("%s: %v, %+v", w.Program, err, rules)
		}
		if _, _, linear := set["$esp"].Linear(); linear {
			places++
		}
	}
	if programs < 2000 || places != programs {
		t.Errorf("%d programs, %d with a stack pointer that is a register plus a number", programs, places)
	}
}

// FuzzProgram compiles and computes any program.
func FuzzProgram(f *testing.F) {
	f.Add("$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $20 $T0 8 - ^ =")
	f.Add("$T1 .raSearch = $T0 $T1 4 - 8 @ =$esp $T1 4 + =")
	f.Add(strings.Repeat("$T0 $T0 $T0 + = ", 9))
	f.Fuzz(func(t *testing.T, s string) {
		bounds.Hold(t, 8<<20+64*len(s), func() {
			p, err := ParseProgram(s)
			if err != nil {
				return
			}
			p.Reads(".raSearch")
			p.Aligns()
			rules, err := p.Rules(map[string]Expr{".raSearch": Plus("$ebp", 4), ".cbParams": Number(8)})
			if err != nil {
				return
			}
			for _, r := range rules {
				r.Expr.Eval(wordsAt{"$ebp": 0x100, "$esp": 0x80}, 32)
				r.Expr.Saved()
				r.Expr.Linear()
			}
		})
	})
}

// TestRulesOfProgram: variables that stand for long expressions do not add up to rules without
// bound.
func TestRulesOfProgram(t *testing.T) {
	text := "$a " + strings.Repeat("$ebp ", 200) + strings.Repeat("+ ", 199) + "= "
	for i := range 30 {
		text += fmt.Sprintf("$b%d $a = ", i)
	}
	p, err := ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	bounds.Hold(t, 32*maxRules*int(unsafe.Sizeof(operation{})), func() {
		for range 8 {
			if _, err := p.Rules(nil); err == nil || !strings.Contains(err.Error(), "in all rules") {
				t.Error(err)
			}
		}
	})
}
