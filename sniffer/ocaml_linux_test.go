package sniffer_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

var (
	ocamlLine = regexp.MustCompile(`in file "fibers\.ml"(?: \(inlined\))?, line (\d+)`)
	codeLine  = regexp.MustCompile(`fibers\.ml:(\d+)`)
)

// TestFibers walks a program of OCaml 5 through the stacks of effects' fibers: an effect's handler
// runs on the stack outward of the function that it handles. The lines of the stack are the ones
// that OCaml tells of itself, by tables of its own. addr2line tells which line an address has.
func TestFibers(t *testing.T) {
	compiler := gdbtest.Tool(t, "ocamlopt")
	addr2line := gdbtest.Tool(t, "addr2line")
	if out, err := exec.Command(compiler, "-version").Output(); err != nil || strings.HasPrefix(string(out), "4.") {
		gdbtest.Cannot(t, fmt.Sprintf("this OCaml has no effects: %s%v", out, err))
	}
	dir := t.TempDir()
	source, err := os.ReadFile(gdbtest.Testdata(t, "fibers.ml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fibers.ml"), source, 0o600); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command(compiler, "-g", "-inline", "0", "fibers.ml", "-o", "fibers")
	compile.Dir = dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program := filepath.Join(dir, "fibers")
	p := gdbtest.StartRunning(t, program)
	frames := 0
	for range 40 {
		var want []string
		for {
			line, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if line == "\n" {
				break
			}
			if m := ocamlLine.FindStringSubmatch(line); m != nil {
				want = append(want, m[1])
			}
		}
		got, stack := ocamlLines(t, p.PID, program, addr2line)
		if len(want) < 2 || len(got) < 2 || !slices.Equal(got[1:], want[1:]) { // the innermost has gone on
			t.Fatalf("OCaml says lines %q, the stack has %q:\n%s", want, got, stack)
		}
		frames += len(got)
		if _, err := p.Stdin.Write([]byte{'x'}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d frames", frames)
}

// ocamlLines returns the lines of a program's frames that are in its source, the innermost first.
func ocamlLines(t *testing.T, pid int, program, addr2line string) (lines []string, text string) {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	table := sniffer.Table(tg.Arch())
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-e", program}
	for f, err := range stack.All() {
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		text += fmt.Sprintf("%v %s %s\n", f, f.Sniffer(), functionOf(f))
		if m := f.Module(); m != nil && m.Path == program {
			_, bias, err := m.Image()
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, fmt.Sprintf("%#x", f.AddressInBlock()-bias))
		}
	}
	if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
		t.Error(err)
	}
	out, err := exec.Command(addr2line, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range codeLine.FindAllStringSubmatch(string(out), -1) {
		lines = append(lines, m[1])
	}
	return lines, text
}
