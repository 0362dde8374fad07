package breakpad

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// TestReadelf: dump_syms's STACK CFI says at each row of the program's .eh_frame what readelf says
// of it.
func TestReadelf(t *testing.T) {
	f, err := Open("testdata/inlines.sym")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	golden, err := os.ReadFile("testdata/inlines.frames")
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	rows := 0
	for line := range strings.Lines(string(golden)) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0 || strings.Contains(line, " CIE ") || strings.Contains(line, " FDE "):
			columns = nil
			continue
		case cells[0] == "LOC":
			columns = cells
			continue
		}
		addr, err := strconv.ParseUint(cells[0], 16, 64)
		if columns == nil || err != nil || addr == 0 || cells[1] == "exp" { // a CIE's row; a PLT's, which dump_syms leaves out
			continue
		}
		cfi, err := f.CFI(addr)
		if err != nil || cfi == nil {
			t.Fatalf("%#x: %v, %v", addr, cfi, err)
		}
		rules, err := cfi.RulesAt(addr)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]string)
		for _, r := range rules {
			e, saved := r.Expr.Saved()
			if !saved {
				e = r.Expr
			}
			register, offset, ok := e.Linear()
			if !ok || saved && register != CFA {
				t.Errorf("%#x: %s: %s", addr, r.Register, r.Expr)
			}
			text := fmt.Sprintf("%s%+d", strings.TrimPrefix(register, "$"), offset)
			if saved {
				text = fmt.Sprintf("c%+d", offset)
			}
			got[strings.TrimPrefix(r.Register, "$")] = text
		}
		want := make(map[string]string)
		for i, cell := range cells[1:] {
			switch name := columns[i+1]; {
			case name == "CFA":
				want[CFA] = cell
			case name == "ra":
				want[RA] = cell
			case cell != "u":
				want[name] = cell
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%#x: %v, readelf has %v", addr, got, want)
		}
		rows++
	}
	if rows < 12 {
		t.Errorf("%d rows", rows)
	}
}

// machine is the state of the specification's machine: registers by name, and words of memory.
type machine struct {
	registers map[string]uint64
	memory    map[uint64]uint64
}

func (m *machine) Register(name string) (uint64, bool) { v, ok := m.registers[name]; return v, ok }

var errFault = errors.New("no memory")

func (m *machine) Word(addr uint64) (uint64, error) {
	if v, ok := m.memory[addr]; ok {
		return v, nil
	}
	return 0, errFault
}

// TestSpecification: the example of the specification's section on STACK CFI, at each address of
// its table.
func TestSpecification(t *testing.T) {
	f := indexed(t, `MODULE Linux x86 1 example
STACK CFI INIT 1000 17 .cfa: $sp .ra: .cfa ^
STACK CFI 1001 .cfa: $sp 16 +
STACK CFI 1002 $r0: .cfa 4 - ^
STACK CFI 100b .cfa: $sp 20 +
STACK CFI 1015 $r0: $r0
STACK CFI 1016 .cfa: $sp
`)
	const entry = 0x7000 // the stack pointer at the entry: the return address is there
	for _, row := range []struct {
		addr, sp, r0 uint64
	}{{0x1000, entry, 5}, {0x1001, entry - 16, 5}, {0x1002, entry - 16, 99}, {0x100b, entry - 20, 99}, {0x1015, entry - 20, 5}, {0x1016, entry, 5}} {
		cfi, err := f.CFI(row.addr)
		if err != nil || cfi == nil {
			t.Fatal(cfi, err)
		}
		rules, err := cfi.RulesAt(row.addr)
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{map[string]uint64{"$sp": row.sp, "$r0": row.r0}, map[uint64]uint64{entry: 0x1234, entry - 4: 5}}
		got := map[string]uint64{"$r0": row.r0}
		for _, r := range rules { // .cfa is the first
			v, err := r.Expr.Eval(m, 32)
			if err != nil {
				t.Fatalf("%#x: %s: %v", row.addr, r.Register, err)
			}
			if got[r.Register] = v; r.Register == CFA {
				m.registers[CFA] = v
			}
		}
		if want := map[string]uint64{CFA: entry, RA: 0x1234, "$r0": 5}; !maps.Equal(got, want) {
			t.Errorf("%#x: %#x, want %#x", row.addr, got, want)
		}
	}
}

func TestEval(t *testing.T) {
	m := &machine{map[string]uint64{"a": 100, "b": 7}, map[uint64]uint64{100: 1 << 40}}
	for _, c := range []struct {
		text string
		bits uint
		want uint64
		err  error
	}{
		{"a b +", 64, 107, nil},
		{"a b -", 64, 93, nil},
		{"b a -", 64, 1<<64 - 93, nil},
		{"b a -", 32, 1<<32 - 93, nil},
		{"a b *", 64, 700, nil},
		{"a b /", 64, 14, nil},
		{"a b %", 64, 2, nil},
		{"a 16 @", 64, 96, nil},
		{"-8", 32, 1<<32 - 8, nil},
		{"18446744073709551615", 64, 1<<64 - 1, nil},
		{"a ^", 64, 1 << 40, nil},
		{"a ^", 32, 0, nil},
		{"a b + 3 * 1 -", 64, 320, nil},
		{"a 0 /", 64, 0, ErrZero},
		{"a 0 %", 64, 0, ErrZero},
		{"a 0 @", 64, 0, ErrZero},
		{"c 1 +", 64, 0, ErrNotKnown},
		{"b ^", 64, 0, errFault},
		{".undef", 64, 0, ErrUndefined},
	} {
		rules, err := ParseRules("r: " + c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got, err := rules[0].Expr.Eval(m, c.bits); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s in %d bits: %#x, %v; want %#x, %v", c.text, c.bits, got, err, c.want, c.err)
		}
		if text := rules[0].Expr.String(); text != c.text && c.text != "18446744073709551615" {
			t.Errorf("%s is written as %s", c.text, text)
		}
	}
}

func TestMalformedRules(t *testing.T) {
	for text, want := range map[string]string{
		"$rsp 8 +":                         `"$rsp" before the first register`,
		": $rsp":                           `a register without a name`,
		".cfa:":                            `.cfa: 0 values are left, want 1`,
		".cfa: $rsp 8":                     `.cfa: 2 values are left, want 1`,
		".cfa: $rsp +":                     `.cfa: "+" lacks an operand`,
		".cfa: ^":                          `.cfa: "^" lacks an operand`,
		".cfa: $rsp 8x +":                  `.cfa: number "8x"`,
		"$T0: $T0 $ebp =":                  `$T0: "=" cannot be here`,
		".ra: .undef 1 +":                  `.ra: ".undef" cannot be here`,
		".ra: 1 99999999999999999999999 +": `.ra: number "99999999999999999999999"`,
	} {
		if rules, err := ParseRules(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v; want %s", text, rules, err, want)
		}
	}
	cfi := CFI{StackCFIInit{Address: 0x10, Size: 4, Rules: ".cfa: a"}, []StackCFI{{0x12, ".cfa: +"}}}
	if _, err := cfi.RulesAt(0x11); err != nil {
		t.Error(err)
	}
	if _, err := cfi.RulesAt(0x12); err == nil || err.Error() != `STACK CFI 12: .cfa: "+" lacks an operand` {
		t.Error(err)
	}
}

// FuzzRules compiles rules, writes them, and computes them.
func FuzzRules(f *testing.F) {
	for _, s := range []string{".cfa: $esp 4 + $eip: .cfa 4 - ^", ".cfa: $rsp 16 @ 8 + .ra: .cfa -8 + ^ $rbx: .undef", "a: b 2 * 3 / 4 % ^ ^"} {
		f.Add(s)
	}
	m := &machine{registers: map[string]uint64{"b": 1 << 63, "$esp": 1000, CFA: 1}, memory: map[uint64]uint64{1000: 1}}
	f.Fuzz(func(t *testing.T, s string) {
		bounds.Hold(t, 4096+400*len(s), func() {
			rules, err := ParseRules(s)
			if err != nil {
				return
			}
			for _, r := range rules {
				v, err := r.Expr.Eval(m, 64)
				again, errAgain := ParseRules("r: " + r.Expr.String())
				if errAgain != nil || len(again) != 1 {
					t.Fatalf("%q is written as %q: %v", s, r.Expr, errAgain)
				}
				if w, err2 := again[0].Expr.Eval(m, 64); v != w || (err == nil) != (err2 == nil) {
					t.Errorf("%q: %#x %v, written and read again %#x %v", r.Expr, v, err, w, err2)
				}
				if register, offset, ok := r.Expr.Linear(); ok {
					if base, known := m.Register(register); known && v != base+uint64(offset) {
						t.Errorf("%q: %#x is not %s%+d", r.Expr, v, register, offset)
					}
				}
			}
		})
	})
}
