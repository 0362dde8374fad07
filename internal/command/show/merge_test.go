package show

import (
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/siginfo"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/symbol"
)

// TestPlaceKeys: what is kept of the frame before at a level changes no number: frames have one
// number if they are printed alike.
func TestPlaceKeys(t *testing.T) {
	base := report.Frame{Type: frame.Normal.String(), Function: "f", Module: "/bin/x", File: "x.c", Line: 7, Params: symbol.ArgsSome}
	noFile, noFunction := base, base
	noFile.File = ""
	noFunction.File, noFunction.Function = "", ""
	list := []report.Frame{base, noFile, noFunction}
	for _, c := range []struct {
		of     report.Frame
		change func(*report.Frame)
	}{
		{base, func(f *report.Frame) { f.Type = frame.SigTramp.String() }},
		{base, func(f *report.Frame) { f.Type = frame.TailCall.String() }},
		{base, func(f *report.Frame) { f.Function = "g" }},
		{base, func(f *report.Frame) { f.File = "y.c" }},
		{base, func(f *report.Frame) { f.Line = 8 }},
		{base, func(f *report.Frame) { f.Params = symbol.ArgsNone }},
		{base, func(f *report.Frame) { f.Guess = true }},
		{base, func(f *report.Frame) { f.MovedOn = true }},
		{base, func(f *report.Frame) { f.HasArguments, f.Arguments = true, []byte("n=1") }},
		{base, func(f *report.Frame) { f.Line = 9 }},
		{base, func(f *report.Frame) { f.Line, f.HasArguments = 9, true }}, // and has none
		{noFile, func(f *report.Frame) { f.Module = "/bin/y" }},
		{noFile, func(f *report.Frame) { f.Offset = 4 }},
		{noFile, func(f *report.Frame) { f.Arguments = []byte("n=1") }},
		{noFunction, func(f *report.Frame) { f.InFile = 4 }},
	} {
		f := c.of
		c.change(&f)
		list = append(list, f)
	}
	kept, level := newPlaceKeys(), []int{0, 3, 1000}
	numbers := map[int]int{}
	for i := range list {
		for k := range list {
			for _, at := range level {
				for _, j := range []int{i, k} {
					f := list[j]
					f.Level = at
					n := kept.of(&f, at)
					if of, known := numbers[n]; known && of != j {
						t.Fatalf("frames %+v and %+v have one number", list[of], f)
					}
					numbers[n] = j
				}
			}
		}
	}
	if len(numbers) != len(list) {
		t.Errorf("%d numbers of %d frames", len(numbers), len(list))
	}
}

// TestMergedCreations: goroutines that different go statements have made are not merged, but
// goroutines that several others have made at one are.
func TestMergedCreations(t *testing.T) {
	m := newMerged(&report.Flags{})
	at := func(function, file string, line int, by uint64) *goroutines.Creation {
		return &goroutines.Creation{Function: function, File: file, Line: line, Goroutine: by}
	}
	made := []*goroutines.Creation{
		at("main.f", "f.go", 7, 1), at("main.f", "f.go", 7, 2), at("main.f", "f.go", 8, 1), at("main.f", "g.go", 7, 1), at("main.g", "f.go", 7, 1),
		at("main.ff", ".go", 7, 1), nil, at("", "", 0, 0),
	}
	for _, c := range made {
		x := &report.Walked{Frames: []report.Frame{{Function: "f"}}}
		x.Thread.Whole, x.Thread.Goroutine = true, &goroutines.Entry{Status: "waiting", Created: c}
		m.add(x)
	}
	if len(m.groups) != len(made)-1 || m.groups[0].Count != 2 {
		t.Errorf("%d groups; the first has %d", len(m.groups), m.groups[0].Count)
	}
}

// TestMergedWithoutFrames: a stack without frames has a list of none in JSON.
func TestMergedWithoutFrames(t *testing.T) {
	m := newMerged(&report.Flags{})
	m.add(&report.Walked{Thread: report.Thread{TID: 1, Kernel: "io_uring", Whole: true}})
	if text := string(AppendJSON(nil, m.groups[0])); !strings.Contains(text, `"frames":[]`) {
		t.Error(text)
	}
}

// TestMergedSignals: stacks that differ in a signal's sender alone are merged, and the frame has
// what they share; stacks with different signals are not.
func TestMergedSignals(t *testing.T) {
	m := newMerged(&report.Flags{})
	for i, s := range []*siginfo.Info{
		{Number: 10, Name: "SIGUSR1", Sender: 7}, {Number: 10, Name: "SIGUSR1", Sender: 8}, {Number: 15, Name: "SIGTERM", Sender: 7}, nil,
	} {
		f := report.Frame{Type: "sigtramp"}
		if s != nil {
			f.Signal = report.NewSignal(s)
		}
		m.add(&report.Walked{Thread: report.Thread{TID: i}, Frames: []report.Frame{f}})
	}
	var out textPrinter
	for _, g := range m.sorted() {
		out.group(&report.Document{}, g)
	}
	var got []string
	for _, line := range strings.Split(string(out.Buf), "\n") {
		if strings.HasPrefix(line, "#") {
			got = append(got, line)
		}
	}
	want := []string{"#0  <signal handler called: SIGUSR1>", "#0  <signal handler called: SIGTERM from PID 7>", "#0  <signal handler called>"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
