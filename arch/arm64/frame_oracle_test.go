package arm64

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

// wrongTable is said of the one function of testSource whose table is wrong by Ubuntu's gcc 13.2.
const wrongTable = "by its table the frame is smaller than by its code, which touches its pages in a loop"

// leaveOut says why a function cannot be compared.
func leaveOut(f *rowtest.FDE, lines []string) string {
	if ra := f.Rows[0].Regs["ra"]; ra != "" && ra != "u" {
		return "a cold part"
	}
	if slices.ContainsFunc(f.Rows, func(r rowtest.Row) bool { return strings.HasPrefix(r.Regs["ra"], "c+") }) {
		return "entered with something on the stack, as the dynamic linker's resolver is"
	}
	if refuted(f, lines) {
		return wrongTable
	}
	return ""
}

// refuted reports whether a table finds the CFA by a register to which the code has lowered the
// stack pointer, and leaves out what was on the stack before.
func refuted(f *rowtest.FDE, lines []string) bool {
	for i := 1; i < len(f.Rows); i++ {
		var to, reg, below, before, has int
		at := int(f.Rows[i].Loc-f.Lo)/size - 1
		n, _ := fmt.Sscanf(f.Rows[i].CFA, "x%d+%d", &reg, &has)
		m, _ := fmt.Sscanf(f.Rows[i-1].CFA, "sp+%d", &before)
		if n+m != 3 || at < 0 || at >= len(lines) {
			continue
		}
		shift, _ := fmt.Sscanf(lines[at], "sub\tx%d, sp, #0x%x", &to, &below)
		if strings.HasSuffix(lines[at], "lsl #12") {
			below <<= 12
		}
		if shift == 2 && to == reg && has != before+below {
			return true
		}
	}
	return false
}

// padding reports whether a word is padding or a constant.
func padding(in *rowtest.Instruction) bool {
	o, _ := decode(in.Code, 0, nil)
	return o.Flow == dataflow.Bad || in.Code[2]|in.Code[3] == 0 || o.Nop && in.State == nil
}

func returns(in *rowtest.Instruction) bool {
	o, _ := decode(in.Code, 0, nil)
	return o.Return && in.State != nil && in.State.Reg(x30) == dataflow.OnEntry(x30)
}

// preserved are the registers that a call preserves and that have no cell of
// their own in a row, ascending by DWARF number.
var preserved = [...]dataflow.Reg{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, v0 + 8, v0 + 9, v0 + 10, v0 + 11, v0 + 12, v0 + 13, v0 + 14, v0 + 15}

// differs says where a row is wrong; unlike is true where its CFA cannot be
// compared.
func differs(s *dataflow.State, row *trad.Row, want *rowtest.Row, _ *rowtest.FDE) (bad, other []string, unlike bool) {
	name, off, _ := strings.Cut(want.CFA, "+")
	base := rsp
	if name != "sp" {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "x"))
		if err != nil {
			return nil, nil, true
		}
		base = regOf(n)
	}
	holds := func(r dataflow.Reg) dataflow.Value { return s.Reg(dataflow.Reg(r)) }
	entryOf := func(r dataflow.Reg) dataflow.Value { return dataflow.OnEntry(dataflow.Reg(r)) }
	switch n, known := holds(base).Distance(); {
	case row.CFA.Kind == trad.InReg && row.CFA.Reg == dwarf(base):
		if strconv.Itoa(int(row.CFA.Off)) != off {
			bad = append(bad, "CFA")
		}
	case !known:
		unlike = true
	case fmt.Sprint(-n) != off || holds(regOf(int(row.CFA.Reg))).Plus(row.CFA.Off) != dataflow.FromCFA(0):
		bad = append(bad, "CFA, from another register")
	}
	check := func(name string, r dataflow.Reg, rule trad.Rule) bool {
		w := want.Regs[name]
		if w == "" || w == "s" {
			w = "u"
		}
		got := ""
		switch rule.Kind {
		case trad.NotTracked:
			return true // it says that it does not know
		case trad.Saved:
			got = fmt.Sprintf("c%+d", rule.Off)
		case trad.Same:
			got = "u"
		case trad.SavedAt: // from a register at the pc: where that is in the frame
			if n, ok := holds(regOf(int(rule.Reg))).Plus(rule.Off).Distance(); ok {
				got = fmt.Sprintf("c%+d", n)
			} else {
				return true
			}
		case trad.InReg:
			got = Arch.RegName(rule.Reg)
		}
		if got == "c+0" {
			got = "c-0"
		}
		// A table need not say that a register is saved before it is changed, nor that
		// it is not any more once it has its value back.
		if w == "u" && rule.Kind != trad.Undefined && holds(r) == entryOf(r) {
			return true
		}
		if x, ok := strings.CutPrefix(w, "c"); ok && rule.Kind == trad.Same {
			n, _ := strconv.Atoi(x)
			return s.Load(dataflow.FromCFA(int32(n))) == entryOf(r)
		}
		return got == w
	}
	if !check("ra", x30, row.RA) {
		bad = append(bad, "RA")
	}
	if !check("x29", x29, row.FP) {
		bad = append(bad, "FP")
	}
	for _, r := range preserved {
		name := fmt.Sprintf("x%d", r)
		if r >= v0 {
			name = fmt.Sprintf("v%d", r-v0)
		}
		rule := row.Others.Rule(dwarf(r))
		if !check(name, r, rule) {
			other = append(other, name)
		}
	}
	return bad, other, unlike
}

// regOf is the register of a DWARF number.
func regOf(n int) dataflow.Reg {
	if n >= 64 {
		return v0 + dataflow.Reg(n-64)
	}
	return dataflow.Reg(n)
}

const testSource = `
#include <string.h>
#include <stdlib.h>
#include <stdarg.h>
#define NOINLINE __attribute__((noinline))
volatile long sink;
NOINLINE long leaf(long a, long b) { return a * b + sink; }
NOINLINE void use(void *p) { sink += *(volatile char *)p; }
NOINLINE long calls(long a) { return leaf(a, 1) + leaf(a, 2); }
NOINLINE long many(long a, long b, long c, long d) {
	long x = leaf(a, b), y = leaf(c, d), z = leaf(a, d), w = leaf(b, c), v = leaf(x, y);
	return x + y * z + w * v + leaf(z, w);
}
NOINLINE long big(long n) { char buf[70000]; memset(buf, n, sizeof buf); use(buf); return buf[n]; }
NOINLINE long huge(long n) { char buf[5000000]; use(buf); use(buf + n); return buf[n]; }
NOINLINE long page(long n) { char buf[4096]; use(buf); use(buf + n); return buf[n]; }
NOINLINE long dynamic(long n) { char *p = __builtin_alloca(n); use(p); char *q = __builtin_alloca(2 * n); use(q); return *p + *q; }
NOINLINE long vla(int n) { long s = 0; for (int i = 1; i < n; i++) { char a[i]; use(a); s += a[0]; } return s; }
NOINLINE double floats(double a, double b) { double c = leaf(1, 2) + a, d = leaf(3, 4) * b; return c * d + leaf(5, 6) + a * b; }
NOINLINE long tail(long n) { return n > 3 ? leaf(n, n) : calls(n); }
NOINLINE long shrink(long n) { if (n == 0) return 1; char b[100]; use(b); return calls(n) + b[n]; }
NOINLINE void noreturn_end(long n) { if (n) { use(&n); abort(); } calls(n); }
NOINLINE long variadic(long n, ...) { va_list l; va_start(l, n); long s = 0; while (n--) s += va_arg(l, long); va_end(l); return s + leaf(s, n); }
NOINLINE long jumps(long n) {
	switch (n) { case 0: return leaf(1, 1); case 1: return calls(2); case 2: return leaf(3, 4) + 1; case 3: use(&n); return 7;
	case 4: return calls(n) * 3; case 5: return leaf(n, 9); case 6: abort(); case 7: return tail(n); }
	return many(n, n, n, n);
}
NOINLINE long aligned(long n) { _Alignas(64) char b[200]; use(b); return b[n]; }
int main(int c, char **v) { return big(c) + huge(c) + page(c) + dynamic(c) + vla(c) + floats(c, c) + tail(c) + shrink(c) + jumps(c) + many(c, c, c, c) + variadic(c, 1L, 2L) + aligned(c); }
`

// link builds testSource without libraries, so that its tables have addresses.
func link(t *testing.T, flags string) (file string) {
	t.Helper()
	cc, dir := gdbtest.Tool(t, "aarch64-linux-gnu-gcc"), t.TempDir()
	src, file := filepath.Join(dir, "frames.c"), filepath.Join(dir, "frames")
	if err := os.WriteFile(src, []byte(testSource), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := append(strings.Fields(flags), "-w", "-c", "-fasynchronous-unwind-tables", "-ffunction-sections", "-o", file+".o", src)
	for _, args := range [][]string{compile, {"-nostdlib", "-static", "-Wl,--unresolved-symbols=ignore-all,-e0", "-o", file, file + ".o"}} {
		if msg, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
	}
	return file
}

// Every address of compiled programs and of the C library: what is claimed for
// sure is what the compiler's tables say.
func TestOracle(t *testing.T) {
	for _, flags := range []string{
		"-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer", "-O2 -fomit-frame-pointer", "-O0 -fomit-frame-pointer",
		"-O2 -mbranch-protection=standard", "-O2 -mbranch-protection=pac-ret+leaf+b-key", "-O0 -mbranch-protection=standard",
		"-O2 -fstack-clash-protection", "-O2 -fstack-clash-protection -fomit-frame-pointer", "-O2 -fstack-protector-all", "-O2 -mno-outline-atomics -funroll-loops",
		"-O3 -march=armv8.5-a+sve", "-O2 -mstrict-align -fno-shrink-wrap", "-Os -mbranch-protection=standard -fomit-frame-pointer",
	} {
		linked := link(t, flags)
		c := processor.Compare(t, linked, 256)
		t.Logf("%s: %v", flags, c)
		if c.Functions+min(1, c.LeftOut[wrongTable]) < 17 || c.Wrong > 0 || c.Other > 0 || c.Unknown > 0 || c.None > 0 || c.WrongEpilogue > 0 || 100*c.Sure < 90*c.Total || c.SureReturns < c.Returns {
			t.Errorf("%s: too many are wrong or missing", flags)
		}
	}
}

// The C library has hand-written code, too.
func TestOracleLibraries(t *testing.T) {
	// glibc 2.43 has more cases of switches, which are guessed at, right but for few, and a second
	// function that binds lazily.
	libc, err := os.ReadFile(crossLibrary(t, "libc.so.6"))
	if err != nil {
		t.Fatal(err)
	}
	release := regexp.MustCompile(`release version 2\.(\d+)`).FindSubmatch(libc)
	if release == nil {
		t.Fatal("libc.so.6 does not say its release")
	}
	more := 0
	if n, _ := strconv.Atoi(string(release[1])); n >= 43 {
		more = 1
	}
	for _, tt := range []struct {
		file          string
		sure, unknown int // at least, at most, per cent
		wrong, other  int // functions, rows at most: the resolvers of lazy binding, whose table is wrong at its ends; longjmp, clone
	}{
		{"libm.so.6", 94, 0, 0, 0},
		{"ld-linux-aarch64.so.1", 97 - 7*more, 1, 1 + more, 20},
		{"libc.so.6", 88 - 3*more, 1, 0, 20},
	} {
		c := processor.Compare(t, crossLibrary(t, tt.file), 256)
		t.Logf("%s: %v", tt.file, c)
		if 100*c.Sure < tt.sure*c.Total || 100*c.Unknown > tt.unknown*c.Total || c.WrongIn > tt.wrong || c.Other > tt.other {
			t.Errorf("%s: too many are wrong or missing", tt.file)
		}
	}
}
