//go:build linux

package gdbtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestParseFull compares what ParseFull reads with what gdb's info locals and info args print of
// each frame.
func TestParseFull(t *testing.T) {
	gdbtest.NeedAMD64(t)
	var programs []string
	for _, p := range []valuetest.Program{valuetest.C(1), valuetest.CXX(2)} {
		path := filepath.Join(t.TempDir(), p.Name)
		if err := os.WriteFile(path, []byte(p.Source), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := valuetest.Builds[1].Command(p)
		programs = append(programs, gdbtest.Compile(t, path, append([]string{gdbtest.Tool(t, cmd[0])}, cmd[1:]...)...))
	}
	programs = append(programs, gdbtest.Build(t, "containers.cc", "-g", "-O0"))
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			p := gdbtest.Start(t, program)
			core := filepath.Join(t.TempDir(), "core")
			threads, err := gdbtest.ParseFull(gdbtest.Full(t, p.PID, core, gdbtest.WithScripts()))
			if err != nil {
				t.Fatal(err)
			}
			if len(threads) != 1 || threads[0].TID != p.PID || len(threads[0].Frames) < 8 {
				t.Fatalf("%d threads: %+v", len(threads), threads)
			}
			compareInfo(t, program, core, threads[0].Frames)
		})
	}
}

func compareInfo(t *testing.T, program, core string, frames []gdbtest.FullFrame) {
	t.Helper()
	argv := []string{"-nx", "-batch", "-iex", "set auto-load on", "-iex", "set debuginfod enabled off", "-iex", "set host-charset UTF-8", "-iex", "set target-charset UTF-8",
		"-iex", "set backtrace past-main on", "-iex", "set backtrace past-entry on", program, core}
	for i := range len(frames) + 1 {
		argv = append(argv, "-ex", fmt.Sprintf("echo <frame %d>", i), "-ex", fmt.Sprintf("frame %d", i), "-ex", "echo <args>\\n", "-ex", "info args", "-ex", "echo <locals>\\n", "-ex", "info locals", "-ex", "echo <end>\\n")
	}
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), argv...).Output() // it fails, for there is no frame behind the last
	if len(out) == 0 {
		t.Fatal(err)
	}
	locals, arguments := 0, 0
	for i, f := range frames {
		_, text, _ := strings.Cut(string(out), fmt.Sprintf("<frame %d>", i))
		text, _, _ = strings.Cut(text, "<end>")
		head, text, _ := strings.Cut(text, "<args>\n")
		args, text, _ := strings.Cut(text, "<locals>\n")
		var ours, names []string
		for _, v := range f.Locals {
			ours = append(ours, v.Name+" = "+v.Text)
		}
		locals += len(ours)
		if want := strings.TrimSpace(text); strings.Join(ours, "\n") != want && !(ours == nil && (want == "No locals." || f.Unknown && want == "No symbol table info available.")) {
			t.Errorf("#%d: locals\n%s\nwant\n%s", i, strings.Join(ours, "\n"), want)
		}
		for _, v := range f.Arguments() {
			if !strings.HasSuffix(v.Name, "@entry") {
				names = append(names, v.Name)
			} else if len(names) == 0 || names[len(names)-1]+"@entry" != v.Name { // the value itself may be left out
				names = append(names, strings.TrimSuffix(v.Name, "@entry"))
			}
		}
		arguments += len(names)
		var want []string
		for _, line := range strings.Split(args, "\n") {
			if name, _, ok := strings.Cut(line, " = "); ok {
				want = append(want, name)
			}
		}
		if strings.Join(names, " ") != strings.Join(want, " ") {
			t.Errorf("#%d: arguments %q, want %q\nof %s", i, names, want, f.Args)
		}
		line := strings.Split(head, "\n")[0]
		if !strings.Contains(line, f.Function+" ("+f.Args+")") || f.Place != "" && !strings.HasSuffix(line, " at "+f.Place) {
			t.Errorf("#%d: %+v\ngdb prints %s", i, f, line)
		}
	}
	if last := fmt.Sprintf("<frame %d>#", len(frames)); strings.Contains(string(out), last) {
		t.Errorf("gdb has more than %d frames", len(frames))
	}
	if locals < 10 || arguments < 8 {
		t.Errorf("only %d locals, %d arguments", locals, arguments)
	}
	t.Logf("%d frames, %d locals, %d arguments", len(frames), locals, arguments)
}
