package command

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

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// vectorCalls has functions of vectors. With an argument, it prints what they return when it calls them itself.
const vectorCalls = `#include <stdio.h>
#include <unistd.h>
typedef double v2 __attribute__((vector_size(16)));
typedef double v4 __attribute__((vector_size(32)));
typedef double v8 __attribute__((vector_size(64)));
#define OF(n) \
	__attribute__((noipa)) v##n make##n(double x) { v##n r; for (int i = 0; i < n; i++) r[i] = x + i; return r; } \
	__attribute__((noipa)) v##n add##n(int k, v##n a, double d, v##n b) { return a + b + (d + k); } \
	__attribute__((noipa)) double sum##n(v##n a, v##n b, v##n c) { double s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i] + 2 * c[i]; return s; } \
	__attribute__((noipa)) v##n last##n(v##n a, v##n b, v##n c, v##n d, v##n e, v##n f, v##n g, v##n h, v##n i) { return h * 100 + i; } \
	static void show##n(void) { v##n r = make##n(1.5), s = add##n(3, make##n(1.5), 0.25, make##n(40.0)); \
		v##n t = last##n(r, r, r, r, r, r, r, make##n(2.0), make##n(3.0)); \
		for (int i = 0; i < n; i++) printf("%s%.17g", i ? ", " : "{", r[i]); puts("}"); \
		for (int i = 0; i < n; i++) printf("%s%.17g", i ? ", " : "{", s[i]); puts("}"); \
		printf("%.17g\n", sum##n(make##n(1.0), make##n(2.0), make##n(3.0))); \
		for (int i = 0; i < n; i++) printf("%s%.17g", i ? ", " : "{", t[i]); puts("}"); }
OF(2) OF(4) OF(8)
int main(int argc, char **argv) { if (argc > 1) { show2(); show4(); show8(); return 0; } puts("ready"); fflush(stdout); char b; while (read(0, &b, 1) > 0) ; return 0; }
`

// Vectors go where the compiler was told that the processor has registers for them, or to memory. Expected is what the
// program prints. What cannot be called is an error: never another value.
func TestCallVectors(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, test := range []struct {
		flags, needs, why string
		called            int // bytes of the widest vector that is called with
	}{
		{"-O1 -march=x86-64", "sse2", "", 64},
		{"-O1 -mavx", "avx", "", 64},
		{"-O0 -march=haswell", "avx2", "", 64},
		{"-O1 -march=x86-64 -mavx512f -mavx512vl", "avx512vl", "", 64},
		{"-O1 -mavx -gno-record-gcc-switches", "avx", "the debug information does not tell", 16},
	} {
		t.Run(test.flags, func(t *testing.T) {
			gdbtest.NeedFlag(t, test.needs)
			program := vectorProgram(t, test.flags)
			want := vectorsSaid(t, program)
			p := gdbtest.Start(t, program)
			for i, n := range []int{2, 4, 8} {
				arguments := strings.Repeat(fmt.Sprintf("make%d(1.5), ", n), 7) + fmt.Sprintf("make%d(2.0), make%d(3.0)", n, n)
				for k, x := range []string{"make%d(1.5)", "add%[1]d(3, make%[1]d(1.5), 0.25, make%[1]d(40.0))", "sum%[1]d(make%[1]d(1.0), make%[1]d(2.0), make%[1]d(3.0))", "last%d(" + strings.ReplaceAll(arguments, "%", "%%") + ")"} {
					x = fmt.Sprintf(x, n)
					stdout, stderr, err := execute(newCall(nil), "--", strconv.Itoa(p.PID), x)
					got := strings.TrimSuffix(stdout, "\n")
					switch {
					case 8*n > test.called && (err == nil || got != "" || !strings.Contains(err.Error(), test.why)):
						t.Errorf("%s: %s %v, want an error with %q", x, got, err, test.why)
					case 8*n <= test.called && (err != nil || stderr != "" || !sameNumbers(got, want[4*i+k])):
						t.Errorf("%s: %s %v %s, the program prints %s", x, got, err, stderr, want[4*i+k])
					}
				}
			}
			p.Rest(t)
		})
	}
}

// vectorProgram compiles vectorCalls.
func vectorProgram(t *testing.T, flags string) (program string) {
	t.Helper()
	src := filepath.Join(t.TempDir(), "vectorcalls.c")
	if err := os.WriteFile(src, []byte(vectorCalls), 0o600); err != nil {
		t.Fatal(err)
	}
	return gdbtest.Compile(t, src, append([]string{gdbtest.Tool(t, "gcc"), "-g", "-w"}, strings.Fields(flags)...)...)
}

// vectorsSaid returns what the program prints that vectorProgram has compiled: a line for each of its functions.
func vectorsSaid(t *testing.T, program string) []string {
	t.Helper()
	said, err := exec.Command(program, "show").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(said), "\n")
}

var numbers = regexp.MustCompile(`[-0-9.e+]+`)

// sameNumbers reports whether two texts have the same numbers.
func sameNumbers(a, b string) bool {
	x, y := numbers.FindAllString(a, -1), numbers.FindAllString(b, -1)
	return len(x) > 0 && slices.EqualFunc(x, y, func(a, b string) bool {
		f, err := strconv.ParseFloat(a, 64)
		g, wrong := strconv.ParseFloat(b, 64)
		return err == nil && wrong == nil && f == g
	})
}
