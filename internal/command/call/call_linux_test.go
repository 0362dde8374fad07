package call

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// evaluatePy has gdb evaluate expressions in the process that it has attached to, and prints their
// values.
const evaluatePy = `
gdb.execute("set debuginfod enabled off")
gdb.execute("set print repeats unlimited")
for text in PARAMS["expressions"]:
    try:
        value = gdb.execute("print " + text, to_string=True).split(" = ", 1)
        emit({"Value": value[1].rstrip("\n") if len(value) > 1 else ""})
    except gdb.error as e:
        emit({"Error": str(e)})
emit({"end": True})
OUT.close()
`

// callGenerator writes C functions, and expressions that call them.
type callGenerator struct {
	*rand.Rand
	text strings.Builder
	n    int
}

// scalars are types with an expression of a value that both sfwalk and gdb read in the same way.
var scalars = []struct {
	c     string
	value func(r *rand.Rand) string
}{
	{"char", func(r *rand.Rand) string { return strconv.Itoa(r.IntN(128)) }},
	{"unsigned char", func(r *rand.Rand) string { return strconv.Itoa(r.IntN(256)) }},
	{"short", func(r *rand.Rand) string { return strconv.Itoa(r.IntN(1<<16) - 1<<15) }},
	{"unsigned short", func(r *rand.Rand) string { return strconv.Itoa(r.IntN(1 << 16)) }},
	{"int", func(r *rand.Rand) string { return strconv.Itoa(int(int32(r.Uint32() >> 1))) }},
	{"int", func(r *rand.Rand) string { return strconv.Itoa(-r.IntN(1 << 30)) }},
	{"unsigned", func(r *rand.Rand) string { return strconv.FormatUint(uint64(r.Uint32()), 10) }},
	{"long", func(r *rand.Rand) string { return strconv.FormatInt(-int64(r.Uint64()>>2), 10) }},
	{"unsigned long", func(r *rand.Rand) string { return fmt.Sprintf("%#x", r.Uint64()>>1) }},
	{"_Bool", func(r *rand.Rand) string { return strconv.Itoa(r.IntN(2)) }},
	{"float", func(r *rand.Rand) string { return fmt.Sprintf("%d.25", r.IntN(1000)) }},
	{"double", func(r *rand.Rand) string { return fmt.Sprintf("%d.3", r.IntN(100000)) }},
	{"double", func(r *rand.Rand) string { return fmt.Sprintf("-%d.75", r.IntN(100)) }},
	{"long double", func(r *rand.Rand) string { return fmt.Sprintf("%d.5", r.IntN(1000)) }},
	{"const char *", func(r *rand.Rand) string { return fmt.Sprintf("%q", strings.Repeat("text", r.IntN(4))) }},
	{"enum color", func(r *rand.Rand) string { return strconv.Itoa([]int{0, 5}[r.IntN(2)]) }},
}

const structs = `#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
enum color { RED, GREEN = 5 };
struct s0 { int a; double b; };
struct s1 { float x, y; };
struct s2 { long v[5]; short w; };
struct s3 { char c; };
struct s4 { double d[4]; };
struct s5 { int a : 5; unsigned b : 11; long c; };
union u6 { long long l; double d; };
struct s7 { struct s1 one; struct s3 other[3]; };
struct s0 mk0(int a, double b) { struct s0 s = {a, b}; return s; }
struct s1 mk1(int a, double b) { struct s1 s = {a, b}; return s; }
struct s2 mk2(int a, double b) { struct s2 s = {{a, a + 1, a + 2, a + 3, a + 4}, b}; return s; }
struct s3 mk3(int a, double b) { struct s3 s = {a & 63}; return s; }
struct s4 mk4(int a, double b) { struct s4 s = {{a, b, a + b, a - b}}; return s; }
struct s5 mk5(int a, double b) { struct s5 s = {a & 15, a & 1023, b}; return s; }
union u6 mk6(int a, double b) { union u6 u; u.l = a; return u; }
struct s7 mk7(int a, double b) { struct s7 s = {{a, b}, {{1}, {2}, {a & 63}}}; return s; }
static long hash(const void *p, int n) { const unsigned char *c = p; long h = 7; while (n--) h = h * 31 + *c++; return h & 0xfffffffffff; }
int sum(int n, ...) { va_list ap; va_start(ap, n); int s = 0; while (n--) s += va_arg(ap, int); va_end(ap); return s; }
double mean(int n, ...) { va_list ap; va_start(ap, n); double s = 0; for (int i = 0; i < n; i++) s += va_arg(ap, double); va_end(ap); return s / n; }
long total(int n, long *v) { long s = 0; while (n--) s += *v++; return s; }
`

var structNames = []string{"struct s0", "struct s1", "struct s2", "struct s3", "struct s4", "struct s5", "union u6", "struct s7"}

// call writes a function, and returns an expression that calls it.
func (c *callGenerator) call() string {
	var params, args, uses []string
	for i := range c.IntN(14) {
		if c.IntN(4) == 0 {
			k := c.IntN(len(structNames))
			params = append(params, fmt.Sprintf("%s a%d", structNames[k], i))
			args = append(args, fmt.Sprintf("mk%d(%d, %d.5)", k, c.IntN(100), c.IntN(100)))
			uses = append(uses, map[string]string{"struct s0": "a%d.a + (long)a%d.b", "struct s1": "(long)a%d.x + (long)a%d.y", "struct s2": "hash(&a%d.v, sizeof a%d.v)", "struct s3": "a%d.c + a%d.c",
				"struct s4": "hash(&a%d, 32) + (long)a%d.d[1]", "struct s5": "a%d.a + a%d.b", "union u6": "a%d.l + a%d.l", "struct s7": "(long)a%d.one.x + a%d.other[2].c"}[structNames[k]])
		} else {
			s := scalars[c.IntN(len(scalars))]
			params = append(params, fmt.Sprintf("%s a%d", s.c, i))
			args = append(args, s.value(c.Rand))
			if s.c == "const char *" {
				uses = append(uses, "hash(a%d, strlen(a%d))")
			} else {
				uses = append(uses, "(long)a%d + (long)(a%d * 2)")
			}
		}
	}
	body := "\tlong h = 1;\n"
	for i, use := range uses {
		body += fmt.Sprintf("\th = h * 3 + (%s);\n", fmt.Sprintf(use, i, i))
	}
	result := ""
	if k := c.IntN(2 * len(structNames)); k < len(structNames) {
		result = structNames[k]
		body += fmt.Sprintf("\treturn mk%d(h & 0xffff, h & 0xfff);\n", k)
	} else {
		result = scalars[c.IntN(len(scalars))].c
		switch result {
		case "const char *":
			body += "\treturn h & 1 ? \"odd\" : \"even\";\n"
		case "enum color":
			body += "\treturn h & 1 ? RED : GREEN;\n"
		case "float", "double", "long double":
			body += "\treturn (h & 0xffff) / 16.0;\n"
		case "char":
			body += "\treturn ' ' + (h & 63);\n"
		default:
			body += "\treturn h;\n"
		}
	}
	fmt.Fprintf(&c.text, "__attribute__((noipa)) %s f%d(%s) {\n%s}\n", result, c.n, strings.Join(params, ", "), body)
	call := fmt.Sprintf("f%d(%s)", c.n, strings.Join(args, ", "))
	fmt.Fprintf(&c.text, "%s own%d(void) { return %s; }\n", result, c.n, call)
	c.n++
	return call
}

// generateCalls writes a program with n generated functions. It returns expressions that call
// these, and some more; and the ones whose values gdb tells.
func generateCalls(t *testing.T, level string, n int) (src string, expressions, oracle []string) {
	t.Helper()
	c := &callGenerator{Rand: rand.New(rand.NewPCG(19, uint64(len(level)+int(level[2]))))}
	for i := range n {
		expressions = append(expressions, c.call())
		oracle = append(oracle, fmt.Sprintf("own%d()", i))
		fmt.Fprintf(&c.text, "__typeof__(own%d()) is%d;\n__attribute__((constructor)) static void begin%d(void) { is%d = own%d(); }\n", i, i, i, i, i)
	}
	expressions = append(expressions, "sum(4, 1, 2, 3, 4)", "sum(0)", "mean(3, 1.5, 2.5, 10.0)", "sum(sum(2, 1, 1), 20, 22)", "total(3, {1L, 2L, 39L})",
		"mk0(-1, 0.1)", "mk7(3, 4.5)", "mk2(1, 2.0)", "mk5(7, 3.0)", "mk6(9, 1.0)", "(long) total(2, {5L, 6L})", "(char) sum(1, 65)", "(unsigned char) sum(1, 321)", "-sum(1, 5)", "~sum(1, 5)", "!sum(1, 5)", "(double) sum(1, 5)", "(float) mean(1, 0.1)",
		"sum(2, 1 + 2 * 3, 7 % 4) << 2", "sum(1, 5) - sum(1, 7) > 0", "7 / 2 * 1.5", "(unsigned char) 7 - 8", "5u - 6", "-7 / 2", "-7 % 2", "-9 >> 1", "(sum(1, 6) & 3) | 8", "6 ^ 3", "1 && sum(0)", "0 || mean(1, 0.5)",
		"1.5 * sum(1, 3) <= 4.5", "(float) 1 / 4", "3L * 5 == 15", "!(1 != 2)")
	oracle = append(oracle, expressions[len(oracle):]...)
	src = filepath.Join(t.TempDir(), "calls.c")
	if err := os.WriteFile(src, []byte(structs+c.text.String()+"int main(void) { puts(\"ready\"); fflush(stdout); char b; while (read(0, &b, 1) > 0) ; return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return src, expressions, oracle
}

// Values that functions return are as gdb shows them: of 320 generated functions, and of some more.
// The program itself makes each call of a generated function as well, in a function that takes no
// arguments: gdb 13 passes some arguments wrongly that follow others on the stack.
func TestCallAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	callAsGDB(t, 160, gdbtest.Tool(t, "gcc"))
}

// TestCallAsGDB386 is TestCallAsGDB for processes of 32-bit x86.
func TestCallAsGDB386(t *testing.T) {
	callAsGDB(t, 60, append([]string{gdbtest.Compiler386(t)}, gdbtest.Dynamic386...)...)
}

// callAsGDB compares calls of n functions that a compiler, cmd with its flags, has compiled.
func callAsGDB(t *testing.T, n int, cmd ...string) {
	for _, level := range []string{"-O0", "-O2"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			src, expressions, oracle := generateCalls(t, level, n)
			p := gdbtest.Start(t, gdbtest.Compile(t, src, append(slices.Clone(cmd), "-g", level, "-w", "-fwrapv", "-fno-ipa-icf")...))
			var ours []string
			for _, x := range expressions {
				stdout, stderr, err := commandtest.Execute(New(nil), "--", strconv.Itoa(p.PID), x)
				if err != nil || stderr != "" {
					t.Fatalf("%s: %v %s", x, err, stderr)
				}
				ours = append(ours, strings.TrimSuffix(stdout, "\n"))
			}
			if gdbtest.CannotWrite(t, "gdb") != "" { // the program has made the calls, too, and has kept the results
				for i := range n {
					oracle[i] = fmt.Sprintf("is%d", i)
				}
			}
			script := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), evaluatePy, map[string]any{"expressions": oracle, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
			compareCalls(t, script, expressions, ours)
		})
	}
}

// compareCalls compares values with gdb's.
func compareCalls(t *testing.T, script *gdbtest.Script, expressions, ours []string) {
	t.Helper()
	without := 0
	for i, x := range expressions {
		var want struct{ Value, Error string }
		if record := script.Next(t); record == nil {
			t.Fatal("gdb evaluated fewer expressions")
		} else if err := json.Unmarshal(record, &want); err != nil {
			t.Fatal(err)
		}
		switch {
		case gdbtest.NotWritten(want.Error):
			without++
		case want.Error != "" || ours[i] != want.Value:
			t.Errorf("%s: %s, gdb has %s %s", x, ours[i], want.Value, want.Error)
		}
	}
	if without > 0 {
		gdbtest.NoOracle(t, without, len(expressions), gdbtest.CannotWrite(t, "gdb"), "nothing: these are calls of some more functions, and casts of what they return")
	}
}
