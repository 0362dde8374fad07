package pe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestNM: the functions of a program and of a library are as nm prints them: by COFF symbols, and,
// of a stripped library, by its exports.
func TestNM(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "library.c")
	if err := os.WriteFile(source, []byte("static int twice(int a) { return 2 * a; }\n__declspec(dllexport) int (*get(void))(int) { return twice; }\n__declspec(dllexport) int thrice(int a) { return 3 * a; }\n"+
		"__asm__(\".text\\n.globl assembled\\nassembled: nop\\nret\\n\");\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(tool string, args ...string) string {
		t.Helper()
		out, err := exec.Command(gdbtest.Tool(t, "x86_64-w64-mingw32-"+tool), args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", tool, err, out)
		}
		return string(out)
	}
	library, stripped := filepath.Join(dir, "library.dll"), filepath.Join(dir, "stripped.dll")
	run("gcc", "-O1", "-shared", "-o", library, source)
	run("strip", "-o", stripped, library)
	want := map[string]uint64{}
	for line := range strings.Lines(run("nm", library)) {
		if f := strings.Fields(line); len(f) == 3 && (f[1] == "T" || f[1] == "t") {
			want[f[2]], _ = strconv.ParseUint(f[0], 16, 64)
		}
	}
	for path, names := range map[string][]string{library: {"twice", "get", "thrice", "assembled"}, stripped: {"get", "thrice"}} {
		im, file, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, name := range names {
			s, ok := im.Symbols().Find(uint32(want[name]-im.Base) + 1)
			if !ok || s.Name != name || uint64(s.RVA)+im.Base != want[name] {
				t.Errorf("%s: %+v, nm has %s at %#x", path, s, name, want[name])
			}
		}
	}
}
