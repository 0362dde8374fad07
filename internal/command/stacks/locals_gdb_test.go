//go:build linux

package stacks_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// locals returns what the command prints of all variables, and which of them are lost.
func locals(t *testing.T, flags []string, args ...string) (text string, lost map[valuetest.Lost]bool) {
	t.Helper()
	args = append(append(args, "--locals"), flags...)
	text, stderr, err := commandtest.Run(args...)
	if err != nil || stderr != "" {
		t.Errorf("%q: %v %s", args, err, stderr)
	}
	out, _, err := commandtest.Run(append(args, "--json", "--explain")...)
	if err != nil {
		t.Errorf("%q: %v", args, err)
	}
	type known struct{ Name, Value, Why string }
	var said struct {
		Threads []struct {
			TID    int
			Frames []struct {
				Level        int
				Type         string
				Args, Locals []known
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	lost = make(map[valuetest.Lost]bool)
	for i := range said.Threads {
		tail := false // the function that further frames are inlined into has left by a jump
		for _, f := range slices.Backward(said.Threads[i].Frames) {
			tail = f.Type == frame.TailCall.String() || tail && f.Type == frame.Inline.String()
			for _, v := range f.Args {
				if tail {
					lost[valuetest.Lost{TID: said.Threads[i].TID, Level: f.Level, Name: valuetest.Jumped + v.Name}] = true
					lost[valuetest.Lost{TID: said.Threads[i].TID, Level: f.Level - 1, Name: valuetest.Jumped + v.Name + "@entry"}] = true
				}
			}
		}
		inner := true // all frames so far are inlined calls
		for _, f := range said.Threads[i].Frames {
			if inner {
				lost[valuetest.Lost{TID: said.Threads[i].TID, Level: f.Level, Name: valuetest.InnermostCode}] = true
			}
			if f.Type == frame.Inline.String() {
				lost[valuetest.Lost{TID: said.Threads[i].TID, Level: f.Level, Name: valuetest.InlinedCall}] = true
			}
			inner = inner && f.Type == frame.Inline.String()
			for _, v := range slices.Concat(f.Args, f.Locals) {
				if strings.Contains(v.Why, "not saved") {
					lost[valuetest.Lost{TID: said.Threads[i].TID, Level: f.Level, Name: v.Name}] = true
				}
				if strings.HasPrefix(v.Name, valuetest.VLALength) && v.Value == "<not saved>" {
					lost[valuetest.Lost{TID: said.Threads[i].TID, Level: f.Level, Name: valuetest.VLALength}] = true
				}
			}
		}
	}
	return text, lost
}

// localsAsGDB compares what `sfwalk core --locals`, and `sfwalk attach`, print of a program that
// waits with gdb's bt full. Only frames of functions that begin with own count.
func localsAsGDB(t *testing.T, program, own string, counts *valuetest.Tally, flags []string, options ...gdbtest.FullOption) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	counts.Constants = valuetest.ByteConstants(t, program)
	p := gdbtest.Start(t, program)
	core := filepath.Join(t.TempDir(), "core")
	want := valuetest.Parse(t, gdbtest.Full(t, p.PID, core, options...))
	for i := range want {
		for n := range want[i].Frames {
			if f := &want[i].Frames[n]; !strings.HasPrefix(f.Function, own) {
				f.Args, f.Locals = "", nil
			}
		}
	}
	for _, args := range [][]string{{"core", core}, {"attach", strconv.Itoa(p.PID)}} {
		out, lost := locals(t, flags, args...)
		counts.Add(t, gdbtest.CompareFull(want, valuetest.Parse(t, out)), lost)
	}
}

// TestLocalsAsGDB compares what the command prints of arguments and locals of two generated
// programs with gdb's. Package value's tests have the other programs.
func TestLocalsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	var counts valuetest.Tally
	for _, tt := range []struct {
		program valuetest.Program
		build   int
	}{
		{valuetest.C(1), 0}, {valuetest.CXX(4), 1},
	} {
		b := valuetest.Builds[tt.build]
		t.Run(fmt.Sprint(tt.program.Name, b.Flags), func(t *testing.T) {
			localsAsGDB(t, valuetest.Compile(t, tt.program, b), "", &counts, []string{"--raw"})
		})
	}
	counts.Log(t)
}
