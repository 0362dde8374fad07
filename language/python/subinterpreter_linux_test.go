package python_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSubinterpreter has a thread run functions of two interpreters: the frames of the inner one
// come first, as each of them says.
func TestSubinterpreter(t *testing.T) {
	program, err := filepath.Abs("testdata/subinterpreter.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := gdbtest.StartRunning(t, interpreter, program)
			var parts [][]string // what each interpreter says, the outer one first
			part := []string(nil)
			for len(parts) < 2 {
				line, err := p.Stdout.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				line = strings.TrimSuffix(line, "\n")
				if line != "ready" {
					part = append(part, line)
				}
				if strings.HasSuffix(line, " <module>") {
					parts, part = append(parts, part), nil
				}
			}
			if line, err := p.Stdout.ReadString('\n'); line != "ready\n" {
				t.Fatal(line, err)
			}
			p.Rest(t)
			want := append(parts[1], parts[0]...)
			for _, d := range walk(t, p.PID) {
				var got []string
				for _, f := range d.Frames() {
					got = append(got, filepath.Base(f.File)+" "+f.Function)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q, the program says %q", got, want)
				}
				if d.Said != nil && len(d.Said.Warnings) > 0 {
					t.Error(d.Said.Warnings)
				}
			}
		})
	}
}
