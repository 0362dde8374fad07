//go:build linux

package valuetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Programs compile, and a seed makes the same one each time.
func TestPrograms(t *testing.T) {
	check(t, "gcc", 3)
}

func TestManyPrograms(t *testing.T) {
	gdbtest.NeedSoak(t)
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) { check(t, compiler, 150) })
	}
}

func check(t *testing.T, compiler string, n uint64) {
	t.Helper()
	dir := t.TempDir()
	for seed := range n {
		for _, p := range []Program{C(seed), CXX(seed)} {
			if again := C(seed); !p.cxx && again.Source != p.Source {
				t.Errorf("%s is another one the second time", p.Name)
			}
			path := filepath.Join(dir, p.Name)
			if err := os.WriteFile(path, []byte(p.Source), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := Build{Compiler: compiler, Flags: []string{"-fsyntax-only"}}.Command(p)
			if out, err := exec.Command(gdbtest.Tool(t, cmd[0]), append(cmd[1:], path)...).CombinedOutput(); err != nil {
				t.Errorf("%q: %v\n%s", cmd, err, out[:min(len(out), 2000)])
			}
		}
	}
}
