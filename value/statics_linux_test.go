package value_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestStaticsAsGDB compares static members that other units define, and types that dwz has moved
// into a file without a language.
func TestStaticsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	sources := gdbtest.Testdata(t, "progs", "statics")
	for variant, how := range [][]string{
		{"g++", "-g"},
		{"g++", "-gdwarf-4", "-fdebug-types-section"},
		{"clang++", "-gdwarf-4", "-O1", "-w"},
		{"g++", "-g", "-O2", "-flto"},
		{"dwz", "-g", "-O1"},
	} {
		t.Run(fmt.Sprint(how), func(t *testing.T) {
			gdbtest.Share(t, variant)
			dir := t.TempDir()
			run := func(name string, args ...string) {
				c := exec.Command(gdbtest.Tool(t, name), args...)
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", c.Args, err, out)
				}
			}
			program := filepath.Join(dir, "program")
			compiler := how[0]
			if compiler == "dwz" {
				compiler = "g++"
			}
			run(compiler, slices.Concat(how[1:], []string{"-std=c++17", "-o", program, filepath.Join(sources, "first.cc"), filepath.Join(sources, "second.cc")})...)
			if how[0] == "dwz" { // moves what two programs have in common
				run("cp", program, program+"2")
				run("dwz", "-m", program+".common", program, program+"2")
			}
			var counts valuetest.Tally
			localsAsGDB(t, program, "", &counts, raw)
			if counts.Values < 20 {
				t.Errorf("%d values", counts.Values)
			}
			counts.Log(t)
			p := gdbtest.Start(t, program)
			for expression, want := range map[string]string{
				"Counted::perThread": "6", "Counted::list": "{1, 3, 3}", "Counted::shared": "7", "Counted::inlinedPerThread": "14", "Of<short>::last": "10",
			} {
				if got := printed(t, attach(t, p.PID), "hold", expression, pretty); len(got) != 1 || got[0] != want {
					t.Errorf("%s is %q, want %s", expression, got, want)
				}
			}
		})
	}
}
