package sbcl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/sbcl"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCores holds the frames in core files against what the program's text says: it dies where
// main calls a function of C. The kernel leaves out files that are mapped, unless it is told not
// to. What the run time has mapped has names of its own functions.
func TestCores(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	program, library := lisp(t)
	busy, err := filepath.Abs("testdata/busy.lisp")
	if err != nil {
		t.Fatal(err)
	}
	for _, filter := range []string{"0x3f", "0x33"} {
		t.Run(filter, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("ORACLE", filepath.Join(dir, "told"))
			const script = `cd "$1"; echo "$2" >/proc/self/coredump_filter; ulimit -c unlimited; shift 2; exec "$@"`
			p := gdbtest.StartRunning(t, "/bin/sh", "-c", script, "sh", dir, filter, program, "--script", busy, library, "die")
			_ = p.Exit(t) // by SIGABRT
			tg, err := core.Open(gdbtest.Glob(t, filepath.Join(dir, "core*"))[0], core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			var got []string
			for _, th := range languagetest.All(t, tg, sbcl.Decorator{}, nil) {
				if names := functions(th); slices.Contains(names, "BUSY::MAIN") {
					got = names
					if !th.Stack.Whole || (len(th.Warnings()) > 0) != (filter == "0x33") {
						t.Errorf("%q\n%s", th.Warnings(), physical(th))
					}
				}
			}
			want := []string{"BUSY::MAIN", "SB-INT::SIMPLE-EVAL-IN-LEXENV", "SB-EXT::EVAL-TLF", "(LABELS SB-FASL::EVAL-FORM :IN SB-INT::LOAD-AS-SOURCE)"}
			if filter == "0x3f" && (len(got) < len(want)+10 || !slices.Equal(got[:len(want)], want) || got[len(got)-1] != "SB-IMPL::%START-LISP") || len(got) == 0 || got[0] != want[0] {
				t.Errorf("the frames are %q", got)
			}
		})
	}
}
