package value_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestRustAsGDB compares Rust's values, also with what the compiler's own printers for gdb make of
// them.
func TestRustAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, flags := range [][]string{{"-Copt-level=0"}, {"-O"}} {
		t.Run(flags[0], func(t *testing.T) {
			var counts valuetest.Tally
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "values.rs"), slices.Concat([]string{gdbtest.Tool(t, "rustc"), "--edition=2021", "-g"}, flags)...)
			localsAsGDB(t, program, "values::", &counts, raw)
			counts.Log(t)
		})
	}
}

// TestRustLibraryAsGDB compares Rust's values with what the compiler's own printers for gdb make of
// them.
func TestRustLibraryAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	rustc := gdbtest.Tool(t, "rustc")
	root, err := exec.Command(rustc, "--print", "sysroot").Output()
	if err != nil {
		t.Fatal(err)
	}
	printers := filepath.Join(strings.TrimSpace(string(root)), "lib/rustlib/etc")
	if _, err := os.Stat(filepath.Join(printers, "gdb_load_rust_pretty_printers.py")); err != nil {
		gdbtest.Cannot(t, "this rustc has no printers for gdb: "+err.Error())
	}
	var counts valuetest.Tally
	program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "values.rs"), rustc, "--edition=2021", "-g")
	localsAsGDB(t, program, "values::", &counts, pretty, gdbtest.WithScripts(printers))
	counts.Log(t)
}

// TestMoreRustAsGDB compares Rust's rarer values, and all of them as the compiler's own printers
// for gdb write them.
func TestMoreRustAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	rustc := gdbtest.Tool(t, "rustc")
	for variant, tt := range []struct {
		source, level string
		raw           bool
	}{
		{"morevalues", "-Copt-level=0", true}, {"morevalues", "-O", true}, {"morevalues", "-Copt-level=0", false}, {"values", "-O", false},
	} {
		name := tt.source + tt.level
		if !tt.raw {
			name += " printed"
		}
		t.Run(name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			p, options := raw, []gdbtest.FullOption(nil)
			if !tt.raw {
				printers := valuetest.RustPrinters(t, rustc)
				gdbtest.File(t, filepath.Join(printers, "gdb_providers.py"))
				p, options = pretty, []gdbtest.FullOption{gdbtest.WithScripts(printers)}
			}
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", tt.source+".rs"), rustc, "--edition=2021", "-g", tt.level)
			counts := valuetest.Tally{Known: valuetest.BetterRust}
			localsAsGDB(t, program, tt.source+"::", &counts, p, options...)
			if counts.Values < 100 {
				t.Errorf("%d values", counts.Values)
			}
			counts.Log(t)
		})
	}
}
