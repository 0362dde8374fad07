package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
)

// A program's functions have their names, whatever is at its path by now, whatever its file system
// says of its inode, and whether or not the user may use /proc/PID/map_files.
func TestFiles(t *testing.T) {
	gdbtest.CanRecord(t)
	program := gdbtest.Build(t, "shares.c", "-O2", "-fomit-frame-pointer", "-pthread")
	other := gdbtest.Build(t, "chain.c")
	for _, v := range []struct {
		name  string
		after func(path string) error
	}{
		{"overlay", nil},
		{"deleted", os.Remove},
		{"replaced", func(path string) error { return os.Rename(copied(t, other, path+".new"), path) }},
		{"installed again", func(path string) error { return os.Rename(copied(t, program, path+".new"), path) }},
	} {
		t.Run(v.name, func(t *testing.T) {
			path := ""
			if v.after == nil {
				path = filepath.Join(gdbtest.Overlay(t, program), filepath.Base(program))
			} else {
				path = copied(t, program, filepath.Join(t.TempDir(), "program"))
			}
			p := gdbtest.StartRunning(t, path, "1", "5")
			if v.after != nil {
				if err := v.after(path); err != nil {
					t.Fatal(err)
				}
			}
			for _, privileged := range []bool{true, false} {
				r := started(t, p.PID)
				if !privileged {
					r.NoMapFiles()
				}
				take(t, r, 50, nil)
				if stacks := pictured(t, r); having(stacks, "half") == 0 {
					t.Errorf("with map_files %v: no sample of %d is in half()", privileged, len(stacks.Samples))
				}
			}
		})
	}
}

// copied copies a program.
func copied(t *testing.T, from, to string) string {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// having returns how many samples are in a function, or in what it has called.
func having(stacks *picture.Stacks, function string) (n int64) {
	for _, s := range stacks.Samples {
		for _, at := range s.Frames {
			if stacks.Places[at].Function == function {
				n += s.Values[0]
				break
			}
		}
	}
	return n
}
