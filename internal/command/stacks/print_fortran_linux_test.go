package stacks_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestPrintFortranWords evaluates variables of Fortran that have the names of C's types. GDB shows
// them among the local variables, and takes their names for types in expressions.
func TestPrintFortranWords(t *testing.T) {
	compiler := valuetest.NeedCompiler(t, "gfortran")
	t.Setenv("LC_ALL", "C.UTF-8")
	program := filepath.Join(t.TempDir(), "words")
	build := exec.Command(compiler, "-g", "-O0", "-o", program, gdbtest.Testdata(t, "progs", "fortran", "words.f90"))
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatal(string(said))
	}
	p := gdbtest.Start(t, program)
	same := 0
	for _, th := range valuetest.Parse(t, gdbtest.Full(t, p.PID, "")) {
		for i, f := range th.Frames {
			if !strings.Contains(f.Place, "words.f90") {
				continue
			}
			for _, x := range f.Locals {
				args := []string{"attach", strconv.Itoa(p.PID), "--frame", strconv.Itoa(i)}
				wants := []string{x.Name + " = " + x.Text, strings.ToUpper(x.Name) + " = " + x.Text}
				if n, err := strconv.Atoi(x.Text); err == nil {
					wants = append(wants, x.Name+" * 2 = "+strconv.Itoa(2*n), "-"+x.Name+" = "+strconv.Itoa(-n), "("+x.Name+") + 1 = "+strconv.Itoa(n+1))
				}
				for _, want := range wants {
					expression, _, _ := strings.Cut(want, " = ")
					args = append(args, "--print", expression)
				}
				out, stderr, err := commandtest.Run(args...)
				if err != nil || stderr != "" {
					t.Fatal(err, stderr)
				}
				for _, want := range wants {
					if !strings.Contains(out, "        "+want+"\n") {
						t.Errorf("frame %d: want %s, got\n%s", i, want, out)
					}
					same++
				}
			}
		}
	}
	if same < 20 {
		t.Errorf("%d values", same)
	}
}
