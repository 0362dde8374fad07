package arm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

func processor(m *dataflow.Machine, objdump ...string) *rowtest.Processor {
	return &rowtest.Processor{
		Machine: m, Arch: Arch,
		CC: "arm-linux-gnueabihf-gcc", Objdump: append([]string{"arm-linux-gnueabihf-objdump", "-z"}, objdump...), Entry: "r13+0", Call: "bl",
		LeaveOut: leaveOut, Padding: padding, Returns: returns, Differs: differs,
	}
}

var a32Code, thumbCode = processor(A32), processor(Thumb)

// twoSums is a frame that is taken down by two instructions. gcc 12's tables say only behind the
// second one that the first has done its part.
var twoSums = regexp.MustCompile(`(?m)^add[sw.]*\t(sp|r7), (sp, |r7, )?#.*\n(adds?[w.]*)\t(sp|r7), (sp, |r7, )?#`)

// leaveOut says why a function cannot be compared.
func leaveOut(_ *rowtest.FDE, lines []string) string {
	if twoSums.MatchString(strings.Join(lines, "\n")) {
		return "its table leaves out the first of two sums"
	}
	return ""
}

// inBlock is an instruction that has a condition in its name, but is no branch: of Thumb code, it
// has a row with the whole of its block.
var inBlock = regexp.MustCompile(`^(pop|ldm|ldr|str|mov|add|sub|bx|cmp|mvn|and|orr|bic|rsb|lsl|lsr|asr|neg|sbc|adc|ubfx|it|v\w+|[su]xt\w|strd|ldrd|mul|mla|b)(b|h|ia|db|s)*(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)(\.\w+)*\t`)

// padding reports whether what objdump shows is data, or an instruction that has no row of its own.
func padding(in *rowtest.Instruction) bool {
	return strings.HasPrefix(in.Text, ".") || strings.HasPrefix(in.Text, "nop") || strings.HasPrefix(in.Text, "udf") ||
		inBlock.MatchString(in.Text) && !strings.HasPrefix(in.Text, "b")
}

// returns reports whether an instruction returns to the caller by what objdump shows.
func returns(in *rowtest.Instruction) bool {
	op, args, _ := strings.Cut(in.Text, "\t")
	op = strings.TrimSuffix(strings.TrimSuffix(op, ".w"), ".n")
	switch op {
	case "bx":
		return strings.HasPrefix(args, "lr") && in.State != nil && in.State.Reg(rlr) == dataflow.OnEntry(rlr)
	case "pop", "ldmia", "ldmfd", "ldm":
		return strings.Contains(args, "pc}") && strings.HasPrefix(strings.TrimPrefix(args, "sp!, "), "{")
	}
	return op == "ldr" && strings.HasPrefix(args, "pc, [sp], #4")
}

// preserved are the registers that a call preserves and that have no cell of their own in a row,
// ascending by DWARF number.
var preserved = func() (list []dataflow.Reg) {
	for r := r4; r < r11; r++ {
		list = append(list, r)
	}
	for r := s0 + 16; r < s0+32; r++ {
		list = append(list, r)
	}
	return list
}()

// regOf is the register of a DWARF number.
func regOf(n int) dataflow.Reg {
	if n >= int(S0) {
		return s0 + dataflow.Reg(n-int(S0))
	}
	return dataflow.Reg(n)
}

// differs says where a row is wrong; unlike is true where its CFA cannot be compared.
func differs(s *dataflow.State, row *trad.Row, want *rowtest.Row, _ *rowtest.FDE) (bad, other []string, unlike bool) {
	name, off, _ := strings.Cut(want.CFA, "+")
	n, err := strconv.Atoi(strings.TrimPrefix(name, "r"))
	if err != nil {
		return nil, nil, true
	}
	base := regOf(n)
	switch n, known := s.Reg(base).Distance(); {
	case row.CFA.Kind == trad.InReg && row.CFA.Reg == dwarf(base):
		if strconv.Itoa(int(row.CFA.Off)) != off {
			bad = append(bad, "CFA")
		}
	case !known:
		unlike = true
	case fmt.Sprint(-n) != off || row.CFA.Kind == trad.InReg && s.Reg(regOf(int(row.CFA.Reg))).Plus(row.CFA.Off) != dataflow.FromCFA(0):
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
			n, ok := s.Reg(regOf(int(rule.Reg))).Plus(rule.Off).Distance()
			if !ok {
				return true
			}
			got = fmt.Sprintf("c%+d", n)
		case trad.InReg:
			got = Arch.RegName(rule.Reg)
		}
		// A table need not say that a register is saved before it is changed, nor that it is not
		// any more once it has its value back.
		if w == "u" && rule.Kind != trad.Undefined && s.Reg(r) == dataflow.OnEntry(r) {
			return true
		}
		if x, ok := strings.CutPrefix(w, "c"); ok && rule.Kind == trad.Same {
			n, _ := strconv.Atoi(x)
			return s.Load(dataflow.FromCFA(int32(n))) == dataflow.OnEntry(r)
		}
		return got == w
	}
	if !check("ra", rlr, row.RA) {
		bad = append(bad, "RA")
	}
	if !check("r11", r11, row.FP) {
		bad = append(bad, "FP")
	}
	for _, r := range preserved {
		if name := fmt.Sprintf("r%d", dwarf(r)); !check(name, r, row.Others.Rule(dwarf(r))) {
			other = append(other, name)
		}
	}
	return bad, other, unlike
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
NOINLINE long big(long n) { char buf[65536 - 16]; memset(buf, n, sizeof buf); use(buf); return buf[n]; }
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
int main(int c, char **v) { return big(c) + page(c) + dynamic(c) + vla(c) + floats(c, c) + tail(c) + shrink(c) + jumps(c) + many(c, c, c, c) + variadic(c, 1L, 2L) + aligned(c); }
`

// link builds testSource without libraries, so that its tables have addresses.
func link(t *testing.T, flags string) (file string) {
	t.Helper()
	cc, dir := gdbtest.Tool(t, "arm-linux-gnueabihf-gcc"), t.TempDir()
	src, file := filepath.Join(dir, "frames.c"), filepath.Join(dir, "frames")
	if err := os.WriteFile(src, []byte(testSource), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := append(strings.Fields(flags), "-g", "-w", "-c", "-ffunction-sections", "-o", file+".o", src)
	for _, args := range [][]string{compile, {"-nostdlib", "-static", "-Wl,--unresolved-symbols=ignore-all,-e0", "-o", file, file + ".o"}} {
		if msg, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
	}
	return file
}

// TestOracle: at every instruction of compiled programs, what is claimed for sure is what the
// compiler's table says.
func TestOracle(t *testing.T) {
	for _, build := range []struct {
		p     *rowtest.Processor
		flags string
	}{
		{a32Code, "-marm -O0"}, {a32Code, "-marm -O2"}, {a32Code, "-marm -Os"}, {a32Code, "-marm -O3 -fno-omit-frame-pointer"},
		{thumbCode, "-mthumb -O0"}, {thumbCode, "-mthumb -O1"}, {thumbCode, "-mthumb -O2"}, {thumbCode, "-mthumb -Os"}, {thumbCode, "-mthumb -O3 -fno-omit-frame-pointer"},
		{thumbCode, "-mthumb -O2 -fno-shrink-wrap"},
	} {
		c := build.p.Compare(t, link(t, build.flags), 256)
		t.Logf("%s: %v", build.flags, c)
		if c.Functions < 14 || c.Wrong > 0 || c.Other > 0 || c.WrongEpilogue > 0 || 100*c.Sure < 85*c.Total || c.None > c.Total/10 {
			t.Errorf("%s: too many are wrong or missing", build.flags)
		}
	}
}
