package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSymbolsDump: the file that --store writes is where a store has it, and is what standard
// output gives. Its first line is dump_syms's.
func TestSymbolsDump(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", gdbtest.Plain...)
	text, errOut, err := commandtest.Run("symbols", "dump", program)
	if err != nil || errOut != "" {
		t.Fatal(err, errOut)
	}
	store := t.TempDir()
	out, _, err := commandtest.Run("symbols", "dump", program, "--store", store)
	if err != nil {
		t.Fatal(err)
	}
	header, err := exec.Command(gdbtest.Breakpad(t, "dump_syms"), "-i", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	only, _, err := commandtest.Run("symbols", "dump", program, "--header-only")
	if err != nil || only != string(header) {
		t.Errorf("--header-only: %q, %v, dump_syms -i has %q", only, err, header)
	}
	f := strings.Fields(string(header))
	want := filepath.Join(store, f[4], f[3], f[4]+".sym")
	if out != want+"\n" {
		t.Errorf("--store writes %q, want %q", out, want)
	}
	if got, err := os.ReadFile(want); err != nil || string(got) != text {
		t.Errorf("%s: %d bytes, %v, want %d", want, len(got), err, len(text))
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(want), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for flag, word := range map[string]string{"--no-cfi": "STACK CFI", "--no-inlines": "INLINE"} {
		if less, _, err := commandtest.Run("symbols", "dump", program, flag); err != nil || strings.Contains(less, word) || !strings.Contains(text, word) {
			t.Errorf("%s: %v, or %s is there, or was not before", flag, err, word)
		}
	}
	if _, _, err := commandtest.Run("symbols", "dump", program, "-o", "x", "--store", "y"); err == nil {
		t.Error("-o and --store together: no error")
	}
	if _, _, err := commandtest.Run("symbols", "dump", filepath.Join(store, f[4])); err == nil {
		t.Error("a folder: no error")
	}
}
