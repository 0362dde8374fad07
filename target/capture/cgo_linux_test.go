package capture_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Stacks of Go and C mixed have the functions that the program's source has, in that order.
func TestCgo(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	for _, flags := range [][]string{{"CGO_ENABLED=1"}, {"CGO_ENABLED=1", "-ldflags=-s -w"}, {"CGO_ENABLED=1", "-buildmode=pie"}} {
		out, err := exec.Command(gdbtest.Build(t, "capturecgo", flags...)).Output()
		if err != nil {
			t.Fatalf("%v: %v: %s", flags, err, out)
		}
		once := []string{"c_inner", "c_outer", "runtime.asmcgocall", "runtime.cgocall"}
		nested := slices.Concat([]string{"main.goCallback"}, once, []string{"main.goCallback"}, once, []string{"main.goCallback"}, once)
		want := [][]string{
			{"main.goCallback", "main.main", "runtime.main", "runtime.goexit"},
			slices.Concat([]string{"main.goCallback"}, once, []string{"main.main", "runtime.main", "runtime.goexit"}),
			slices.Concat(nested, []string{"main.main", "runtime.main", "runtime.goexit"}),
			slices.Concat([]string{"main.goCallback"}, once, []string{"main.goCallback"}, once, []string{"main.main.func1", "runtime.goexit"}),
			{"main.goCallback", "c_inner", "c_outer", "c_run", "start_thread"},
		}
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%v: %s", flags, out)
		}
		for i, line := range lines {
			got := strings.Fields(line)
			for _, name := range want[i] {
				if slices.Contains(flags, "-ldflags=-s -w") && strings.HasPrefix(name, "c_") {
					continue // it has no symbol
				}
				at := slices.Index(got, name)
				if at < 0 && name == "start_thread" {
					at = 0 // in libc, without debug information
				}
				if at < 0 {
					t.Fatalf("%v: no %s, in this place, in\n%s", flags, name, line)
				}
				got = got[min(at+1, len(got)):]
			}
		}
	}
}
