//go:build linux && amd64

package stacks_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// delveFrame is a frame with its variables as Delve's client prints them in one line.
type delveFrame struct {
	function string
	locals   []gdbtest.FullLocal
	args     []string // names
}

// endless is a function with a slice that contains itself. Delve cannot read that.
const endless = "main.endless"

// delveFrames returns the frames of the program's own functions in a process that waits.
func delveFrames(t *testing.T, pid int) (list []delveFrame) {
	t.Helper()
	grp := delvetest.Attach(t, pid)
	defer grp.Detach(false)
	// The limits of `dlv print`, but for gdb's limits on elements and characters.
	limits := proc.LoadConfig{FollowPointers: true, MaxVariableRecurse: 1, MaxStringLen: 200, MaxArrayValues: 200, MaxStructFields: -1}
	tgt := grp.Selected
	for _, th := range tgt.ThreadList() {
		stack, err := proc.ThreadStacktrace(tgt, th, 50)
		if err != nil {
			continue
		}
		g, _ := proc.GetG(th)
		for i := range stack {
			fn := stack[i].Current.Fn
			if fn == nil || !strings.HasPrefix(fn.Name, "main.") {
				continue
			}
			scope := proc.FrameToScope(tgt, th.ProcessMemory(), g, th.ThreadID(), stack[i:]...)
			f := delveFrame{function: fn.Name}
			read := func(vars []*proc.Variable, err error) (list []gdbtest.FullLocal) {
				if err != nil {
					t.Fatalf("%s: %v", fn.Name, err)
				}
				for _, v := range vars {
					list = append(list, gdbtest.FullLocal{Name: v.Name, Text: api.ConvertVar(v).SinglelineString()})
				}
				return list
			}
			if fn.Name != endless {
				f.locals = read(scope.LocalVariables(limits))
			}
			args, err := scope.FunctionArguments(limits)
			if err != nil {
				t.Fatalf("%s: %v", fn.Name, err)
			}
			for _, v := range args {
				f.args = append(f.args, v.Name)
			}
			list = append(list, f)
		}
	}
	return list
}

// TestLocalsAsDelve compares Go's locals with what Delve reads of the same process.
func TestLocalsAsDelve(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, program := range []string{"govalues", "gomorevalues"} {
		for _, flags := range []string{"-gcflags=all=-N -l", "-gcflags=-l"} {
			t.Run(program+" "+flags, func(t *testing.T) {
				p := gdbtest.Start(t, gdbtest.Build(t, program, flags))
				want := delveFrames(t, p.PID)
				out, stderr, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--locals")
				if err != nil || stderr != "" {
					t.Fatal(err, stderr)
				}
				compareDelve(t, want, valuetest.Parse(t, out), !strings.Contains(flags, "-N"))
			})
		}
	}
}

// TestLocalsOfOldGo is TestLocalsAsDelve with programs of a Go whose maps are not Swiss tables yet.
func TestLocalsOfOldGo(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, program := range []string{"govalues", "gomorevalues"} {
		p := gdbtest.Start(t, oldGo(t, program, "-gcflags=all=-N -l"))
		want := delveFrames(t, p.PID)
		out, stderr, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--locals")
		if err != nil || stderr != "" {
			t.Fatal(err, stderr)
		}
		compareDelve(t, want, valuetest.Parse(t, out), false)
	}
}

// oldGo builds a program by an earlier release of Go, outside this module, which needs a later one.
func oldGo(t *testing.T, program string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	source, err := os.ReadFile(gdbtest.Testdata(t, "progs", program, "main.go"))
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "main.go"), source, 0o644),
			os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module old\n\ngo 1.23\n"), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command(gdbtest.Tool(t, "go"), append(append([]string{"build"}, flags...), "-o", "old", ".")...)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOTOOLCHAIN=go1.23.12", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		gdbtest.Missing(t, "Go 1.23, which the go command fetches by the name golang.org/toolchain: "+string(said))
	}
	return filepath.Join(dir, "old")
}

var argument = regexp.MustCompile(`(^|, )[^ ,=]+=`)

// gone are the texts of values that are not known.
var gone = map[string]bool{"<optimized out>": true, "<not saved>": true, "<unavailable>": true}

func compareDelve(t *testing.T, want []delveFrame, got []gdbtest.FullThread, optimized bool) {
	t.Helper()
	var own []gdbtest.FullFrame
	for _, thread := range got {
		for _, f := range thread.Frames {
			if strings.HasPrefix(f.Function, "main.") {
				own = append(own, f)
			}
		}
	}
	if len(own) != len(want) || len(want) == 0 {
		t.Fatalf("%d frames, Delve has %d", len(own), len(want))
	}
	same := 0
	for i, w := range want {
		if own[i].Function != w.function {
			t.Errorf("frame %d is %s, Delve has %s", i, own[i].Function, w.function)
			continue
		}
		if names := argument.FindAllString(own[i].Args, -1); len(names) < len(w.args) || strings.Contains(own[i].Args, ".dict") {
			t.Errorf("%s: arguments %s, Delve has %v", w.function, own[i].Args, w.args)
		}
		for _, name := range w.args {
			if !strings.Contains(" "+own[i].Args, " "+name+"=") {
				t.Errorf("%s: arguments %s, Delve has %v", w.function, own[i].Args, w.args)
			}
		}
		if w.function == endless {
			for _, x := range own[i].Locals {
				if !(optimized && gone[x.Text]) && !(strings.HasPrefix(x.Text, "main.self len: 3, cap: 3, [[[[") && strings.Contains(x.Text, "[...")) {
					t.Errorf("%s: %s = %s", w.function, x.Name, x.Text)
				}
			}
		}
		for _, v := range w.locals {
			if strings.HasPrefix(v.Text, "(unreadable ") {
				continue // it is optimized out
			}
			var have []string
			found, unknown := false, false
			for _, x := range own[i].Locals {
				if x.Name == v.Name {
					have = append(have, x.Text)
					found = found || x.Text == v.Text
					unknown = unknown || optimized && gone[x.Text]
				}
			}
			if found {
				same++
				continue
			}
			if unknown {
				continue // Delve takes a register that the callee need not preserve for the caller's
			}
			t.Errorf("%s: %s = %s\nDelve has %s", w.function, v.Name, strings.Join(have, "\nor "), v.Text)
		}
	}
	if same < 10 {
		t.Errorf("%d variables are as Delve has them", same)
	}
	t.Logf("%d variables are as Delve has them", same)
}
