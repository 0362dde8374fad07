package commandtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// CallTarget starts a program that has all functions that are called in examples, and returns its
// process ID.
func CallTarget(t *testing.T) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread")
	preload := "LD_PRELOAD=libm.so.6 " + gdbtest.File(t, "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
	return strconv.Itoa(gdbtest.Start(t, gdbtest.Tool(t, "env"), preload, program).PID)
}

// CallExample returns the words of a command that calls functions, with another process for the one
// that it names.
func CallExample(line, pid, called string) (args []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		word := m[1] + m[2]
		switch {
		case word == pid || len(args) > 0 && args[len(args)-1] == "--tid":
			word = called
		case word == "EXPRESSION":
			word = "getpid()"
		}
		args = append(args, word)
	}
	return args
}

// VectorProgram compiles vectorCalls.
func VectorProgram(t *testing.T, flags string) (program string) {
	t.Helper()
	src := filepath.Join(t.TempDir(), "vectorcalls.c")
	if err := os.WriteFile(src, []byte(vectorCalls), 0o600); err != nil {
		t.Fatal(err)
	}
	return gdbtest.Compile(t, src, append([]string{gdbtest.Tool(t, "gcc"), "-g", "-w"}, strings.Fields(flags)...)...)
}

// VectorsSaid returns what the program prints that VectorProgram has compiled: a line for each of
// its functions.
func VectorsSaid(t *testing.T, program string) []string {
	t.Helper()
	said, err := exec.Command(program, "show").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(said), "\n")
}

// SameNumbers reports whether two texts have the same numbers.
func SameNumbers(a, b string) bool {
	x, y := numbers.FindAllString(a, -1), numbers.FindAllString(b, -1)
	return len(x) > 0 && slices.EqualFunc(x, y, func(a, b string) bool {
		f, err := strconv.ParseFloat(a, 64)
		g, wrong := strconv.ParseFloat(b, 64)
		return err == nil && wrong == nil && f == g
	})
}

// vectorCalls has functions of vectors. With an argument, it prints what they return when it calls
// them itself.
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

var numbers = regexp.MustCompile(`[-0-9.e+]+`)
