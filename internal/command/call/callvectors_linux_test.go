package call

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Vectors go where the compiler was told that the processor has registers for them, or to memory.
// Expected is what the program prints. What cannot be called is an error: never another value.
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
			program := commandtest.VectorProgram(t, test.flags)
			want := commandtest.VectorsSaid(t, program)
			p := gdbtest.Start(t, program)
			for i, n := range []int{2, 4, 8} {
				arguments := strings.Repeat(fmt.Sprintf("make%d(1.5), ", n), 7) + fmt.Sprintf("make%d(2.0), make%d(3.0)", n, n)
				for k, x := range []string{"make%d(1.5)", "add%[1]d(3, make%[1]d(1.5), 0.25, make%[1]d(40.0))", "sum%[1]d(make%[1]d(1.0), make%[1]d(2.0), make%[1]d(3.0))", "last%d(" + strings.ReplaceAll(arguments, "%", "%%") + ")"} {
					x = fmt.Sprintf(x, n)
					stdout, stderr, err := commandtest.Execute(New(nil), "--", strconv.Itoa(p.PID), x)
					got := strings.TrimSuffix(stdout, "\n")
					switch {
					case 8*n > test.called && (err == nil || got != "" || !strings.Contains(err.Error(), test.why)):
						t.Errorf("%s: %s %v, want an error with %q", x, got, err, test.why)
					case 8*n <= test.called && (err != nil || stderr != "" || !commandtest.SameNumbers(got, want[4*i+k])):
						t.Errorf("%s: %s %v %s, the program prints %s", x, got, err, stderr, want[4*i+k])
					}
				}
			}
			p.Rest(t)
		})
	}
}

// targetCalls has functions with targets of their own. With an argument, it prints what they return
// when it calls them itself.
const targetCalls = `#include <stdio.h>
#include <unistd.h>
typedef double v4 __attribute__((vector_size(32)));
typedef double v8 __attribute__((vector_size(64)));
struct wrap { v8 v; };
#define AS(name, targets) \
	__attribute__((noipa, targets)) v8 make_##name(double x) { v8 r; for (int i = 0; i < 8; i++) r[i] = x + i; return r; } \
	__attribute__((noipa, targets)) double sum_##name(v8 a, double k) { double s = k; for (int i = 0; i < 8; i++) s += a[i]; return s; } \
	__attribute__((noipa, targets)) v8 same_##name(v8 a) { return a; } \
	__attribute__((noipa, targets)) double first_##name(v8 a) { return a[0]; } \
	__attribute__((noipa, targets)) struct wrap wrapped_##name(v8 a) { struct wrap w = {a}; return w; } \
	__attribute__((noipa, targets)) struct wrap wrap_##name(struct wrap a, int n) { a.v *= n; return a; } \
	__attribute__((noipa, targets)) v4 half_##name(v4 a) { return a * 0.5; } \
	__attribute__((noipa, targets)) v4 load_##name(double x) { v4 r = {x, x + 1, x + 2, x + 3}; return r; } \
	__attribute__((noipa, targets)) void show_##name(void) { v8 r = make_##name(1.5); struct wrap w = {r}; w = wrap_##name(w, 3); \
		v8 s = same_##name(r); v4 h = half_##name(load_##name(5)); \
		for (int i = 0; i < 8; i++) printf("%s%.17g", i ? ", " : "{", r[i]); printf("}\n%.17g\n", sum_##name(r, 2)); \
		for (int i = 0; i < 8; i++) printf("%s%.17g", i ? ", " : "{", s[i]); printf("}\n%.17g\n", first_##name(r)); \
		for (int i = 0; i < 8; i++) printf("%s%.17g", i ? ", " : "{v = {", w.v[i]); puts("}}"); \
		for (int i = 0; i < 4; i++) printf("%s%.17g", i ? ", " : "{", h[i]); puts("}"); }
AS(plain, unused)
AS(wide, target("avx512f"))
#ifndef __AVX512F__
AS(half, target("avx"))
AS(narrow, target("no-avx"))
#else
static void show_half(void) {} // gcc 12 has internal errors where a target takes AVX-512 away
static void show_narrow(void) {}
#endif
int main(int argc, char **argv) { if (argc > 1) { show_plain(); show_wide(); show_half(); show_narrow(); return 0; }
	puts("ready"); fflush(stdout); char b; while (read(0, &b, 1) > 0) ; return 0; }
`

// A function may be compiled for another processor than its file. Debug information does not tell:
// its code does, or the call is refused. Expected is what the program prints.
func TestCallTargets(t *testing.T) {
	gdbtest.NeedFlag(t, "avx512f")
	src := filepath.Join(t.TempDir(), "targetcalls.c")
	if err := os.WriteFile(src, []byte(targetCalls), 0o600); err != nil {
		t.Fatal(err)
	}
	gcc := gdbtest.Tool(t, "gcc")
	for variant, flags := range []string{"-O2", "-O0", "-O2 -mavx", "-O2 -march=x86-64-v4", "-O0 -march=x86-64-v4", "-Os -mavx512f"} {
		t.Run(flags, func(t *testing.T) {
			gdbtest.Share(t, variant)
			program := gdbtest.Compile(t, src, append([]string{gcc, "-g", "-w", "-mno-vzeroupper"}, strings.Fields(flags)...)...)
			want := commandtest.VectorsSaid(t, program)
			p := gdbtest.Start(t, program)
			calls := []string{"make_%s(1.5)", "sum_%[1]s(make_%[1]s(1.5), 2.0)", "same_%[1]s(make_%[1]s(1.5))",
				"first_%[1]s(make_%[1]s(1.5))", "wrap_%[1]s(wrapped_%[1]s(make_%[1]s(1.5)), 3)", "half_%[1]s(load_%[1]s(5.0))"}
			names, called := []string{"plain", "wide", "half", "narrow"}, 0
			if strings.Contains(flags, "v4") || strings.Contains(flags, "avx512") {
				names = names[:2]
			}
			for i, name := range names {
				for k, x := range calls {
					x = fmt.Sprintf(x, name)
					stdout, _, err := commandtest.Execute(New(nil), "--", strconv.Itoa(p.PID), x)
					got := strings.TrimSuffix(stdout, "\n")
					switch {
					case err != nil && got == "" && strings.Contains(err.Error(), "its code does not bear out"):
						t.Logf("%s is refused", x)
					case err != nil || !commandtest.SameNumbers(got, want[6*i+k]):
						t.Errorf("%s: %s %v, the program prints %s", x, got, err, want[6*i+k])
					default:
						called++
					}
				}
			}
			if all := len(names) * len(calls); called < all*2/3 {
				t.Errorf("only %d of %d calls are made", called, all)
			}
			p.Rest(t)
		})
	}
}
