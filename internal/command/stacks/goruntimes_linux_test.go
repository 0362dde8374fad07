package stacks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// runtimesOf are the documents that TestRuntimes reads.
type runtimesOf struct {
	Goroutines []struct {
		Runtime, Status, Reason string
		Stack                   int
	}
	Stacks []struct {
		Count   int
		Runtime string
		Frames  []frameOf
	}
	Warnings []string
}

// waits returns how many goroutines of each runtime wait in main.waits, by the document's stacks.
func (d *runtimesOf) waits() map[string]int {
	list := map[string]int{}
	for _, x := range d.Stacks {
		for _, f := range x.Frames {
			if f.Function == "main.waits" {
				list[x.Runtime] += x.Count
			}
		}
	}
	return list
}

// A process has several runtimes of Go, each with as many waiting goroutines as the program has
// asked it for. They are shown all, and told apart, also if two are in the same file.
func TestRuntimes(t *testing.T) {
	host := gdbtest.Build(t, "gohost.c", gdbtest.Plain...)
	copies := twoLibraries(t)
	for _, test := range []struct {
		name    string
		args    []string
		want    map[string]int // by the runtime's name, which ends so
		inText  []string
		outText string
	}{
		{"two", append([]string{"3"}, copies...), map[string]int{"/one.so": 3, "/two.so": 6},
			[]string{"3 goroutines [chan receive] of one.so: ", "6 goroutines [chan receive] of two.so: ", "[select (no cases)] of one.so"}, " at 0x"},
		{"one file twice", []string{"-s", "3", copies[0], copies[0]}, map[string]int{"first": 3, "second": 6},
			[]string{"3 goroutines [chan receive] of " + copies[0] + " at 0x", "6 goroutines [chan receive] of " + copies[0] + " at 0x"}, ""},
		{"one", []string{"3", copies[1]}, map[string]int{"": 3}, []string{"3 goroutines [chan receive]: "}, " of two.so"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := gdbtest.Start(t, host, test.args...)
			pid, saved := fmt.Sprint(p.PID), filepath.Join(t.TempDir(), "saved")
			for _, how := range [][]string{{"attach", pid, "--save", saved}, {"attach", pid}, {"open", saved}, {"core", saved}} {
				text, errs, err := commandtest.Run(append(how, "--goroutines", "--merge")...)
				if err != nil {
					t.Fatalf("%v: %v\n%s", how, err, errs)
				}
				for _, want := range test.inText {
					if !strings.Contains(text, want) {
						t.Errorf("%v: no %q in\n%s", how, want, text)
					}
				}
				if test.outText != "" && strings.Contains(text, test.outText+" ") {
					t.Errorf("%v: %q in\n%s", how, test.outText, text)
				}
			}
			var d runtimesOf
			text, _, err := commandtest.Run("attach", pid, "--goroutines", "--merge", "--json")
			if err == nil {
				err = json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&d)
			}
			if err != nil || len(d.Warnings) > 0 {
				t.Fatalf("%v, warnings %q", err, d.Warnings)
			}
			got := map[string]int{}
			for name, n := range d.waits() {
				for want, m := range test.want {
					if n == m && (want == "" && name == "" || want != "" && (strings.HasSuffix(name, want) || strings.Contains(name, copies[0]+" at 0x"))) {
						got[want] = n
					}
				}
			}
			if len(got) != len(test.want) || len(d.waits()) != len(test.want) {
				t.Errorf("goroutines in main.waits: %v, want %v", d.waits(), test.want)
			}
			// Two of them have the same number, but are two.
			blocked := 0
			for _, g := range d.Goroutines {
				if g.Reason == "select (no cases)" {
					blocked++
				}
			}
			if blocked != len(test.want) {
				t.Errorf("%d goroutines block a thread, want %d", blocked, len(test.want))
			}
		})
	}
}

// twoLibraries returns two files with a library of Go.
func twoLibraries(t *testing.T) (list []string) {
	t.Helper()
	data, err := os.ReadFile(gdbtest.Build(t, "golib", "CGO_ENABLED=1", "-buildmode=c-shared", "-gcflags=-N -l"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"one.so", "two.so"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o700); err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	return list
}

// What an interface holds, and the names of constants, are known by the tables of the library that
// a variable is in: each of two has a description of its type at an address of its own. The values
// are the source's.
func TestTypesOfRuntimes(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "gohost.c", gdbtest.Plain...), append([]string{"1"}, twoLibraries(t)...)...)
	text, errs, err := commandtest.Run("attach", fmt.Sprint(p.PID), "--print", "what", "--print", "tint")
	if err != nil && !strings.Contains(text, "main.holds") {
		t.Fatalf("%v\n%s", err, errs)
	}
	for _, want := range []string{"what = interface {}(main.shape) {side: 7, in: green (1)}", "tint = green (1)"} {
		if n := strings.Count(text, want); n != 2 {
			t.Errorf("%d times %q, want 2, in\n%s", n, want, text)
		}
	}
}
