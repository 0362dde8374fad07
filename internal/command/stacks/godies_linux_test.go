package stacks_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestGoDiesInC: the core of a Go program that has died in C has the whole stack, which README
// promises. The C functions are gdb's, which loses the stack below; the Go functions are the
// program's own report's, which knows no C.
func TestGoDiesInC(t *testing.T) {
	exe := gdbtest.Build(t, "godiesinc", "CGO_ENABLED=1")
	t.Setenv("GOTRACEBACK", "crash")
	for _, how := range []string{"c", "assert", "go"} {
		core, said := coreAndWords(t, exe, how)
		out, warnings, err := commandtest.Run("core", core)
		if err != nil {
			t.Errorf("%s: %v\n%s%s", how, err, out, warnings)
			continue
		}
		_, out, _ = strings.Cut(out, "\nThread ")
		out, _, _ = strings.Cut(out, "\n\n") // of the thread that died
		var want []string
		if how != "go" {
			gdb, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-iex", "set debuginfod enabled off", exe, core, "-ex", "bt").Output()
			if err != nil {
				t.Fatalf("gdb: %v\n%s", err, gdb)
			}
			for _, m := range regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(test\d|runtime\.asmcgocall) `).FindAllStringSubmatch(string(gdb), -1) {
				want = append(want, m[1])
			}
			if len(want) != 4 {
				t.Fatalf("%s: gdb has %q:\n%s", how, want, gdb)
			}
		}
		// "main.main()" and a line with the place.
		_, own, ok := strings.Cut(said, "\ngoroutine 1 ")
		if !ok {
			t.Fatalf("%s: the program does not say where its goroutine is:\n%s", how, said)
		}
		own, _, _ = strings.Cut(own, "\n\n")
		for _, m := range regexp.MustCompile(`(?m)^(runtime\.cgocall|main\.\w+|runtime\.main|runtime\.goexit)\(`).FindAllStringSubmatch(own, -1) {
			want = append(want, m[1])
		}
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?([\w.]+)`).FindAllStringSubmatch(out, -1) {
			if !strings.HasPrefix(m[1], "_cgo_") { // cgo's own, which jumps to test3 or calls it
				got = append(got, m[1])
			}
		}
		if len(want) < 3 || len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) || !strings.HasPrefix(got[0], "runtime.") {
			t.Errorf("%s: functions %q, want them to end with %q\n%s", how, got, want, out)
		}
	}
}
