package stacks_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/npm"
)

// sass is a program that Dart's compiler has made ahead of time, with Dart's run time.
var sass = npm.Package{
	Spec: "sass-embedded-linux-x64@1.108.2",
	Sum:  "c31d5cfb9af5948d7c16be4f77c9f3c8eafc518eaa24883f4ac8468f562fb8b4",
	Keep: func(name string) (file string, mode os.FileMode) {
		if base := path.Base(name); base == "dart" || base == "sass.snapshot" {
			return base, 0o755
		}
		return "", 0
	},
}

// inTrace is a line of a trace of Dart's: a file, a line, and a function.
var inTrace = regexp.MustCompile(`^(\S+) (\d+) +(\S+)$`)

// TestDart stops a program in Dart at random moments. The functions that call the one that works
// are the ones that Dart itself tells when that one has failed.
func TestDart(t *testing.T) {
	gdbtest.Tool(t, "node") // so that it is left to who has npm
	dir, err := sass.Folder()
	gdbtest.FromNPM(t, err)
	source, err := filepath.Abs("testdata/trace.scss")
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c := exec.Command(filepath.Join(dir, "dart"), filepath.Join(dir, "sass.snapshot"), "--trace", source)
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // it fails, for that is what it is to do
		close(ended)
	}()
	var stacks [][]string
	for running := true; running; {
		select {
		case <-ended:
			running = false
		default:
			if _, err := os.Stat(fmt.Sprintf("/proc/%d/exe", c.Process.Pid)); err == nil {
				stacks = append(stacks, dartFrames(commandtest.Take(t, c.Process.Pid, &report.Flags{})))
			}
		}
	}
	var want []string
	for line := range strings.Lines(said.String()) {
		if m := inTrace.FindStringSubmatch(strings.TrimSpace(line)); m != nil && strings.Contains(m[1], ".dart") {
			want = append(want, fmt.Sprintf("%s %s:%s", m[3], m[1], m[2]))
		}
	}
	// The innermost functions have gone on: the first one that has not is the call of "stop".
	first := slices.IndexFunc(want, func(f string) bool { return strings.HasPrefix(f, "_EvaluateVisitor._withEnvironment ") })
	if first < 0 {
		t.Fatalf("Dart tells no stack:\n%s", said.String())
	}
	want = want[first:]
	right := 0
	for _, got := range stacks {
		i := slices.IndexFunc(got, func(f string) bool { return strings.HasPrefix(f, "main ") })
		if i < 0 || i+1 < len(want) {
			continue // it has just begun, or has just ended
		}
		if got = got[i+1-len(want) : i+1]; !slices.Equal(got, want) {
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("frame %d: %s, want %s", i, got[i], want[i])
				}
			}
			t.FailNow()
		}
		right++
	}
	t.Logf("%d of %d stacks, of %d frames", right, len(stacks), len(want))
	if right < 5 {
		t.Error("too few stacks were seen")
	}
}

// dartFrames returns the functions in Dart's own files of the thread that has most of them, the
// innermost first, as Dart's traces write them. Functions of Dart's libraries are in short in
// these.
func dartFrames(doc *report.Document) (list []string) {
	for _, th := range doc.Threads {
		var frames []string
		for _, f := range th.Frames {
			if strings.HasSuffix(f.File, ".dart") && !strings.HasPrefix(f.File, "dart:") && !strings.HasPrefix(f.Function, "stub ") {
				frames = append(frames, fmt.Sprintf("%s %s:%d", strings.ReplaceAll(f.Function, "<anonymous closure>", "<fn>"), strings.TrimPrefix(f.File, "file://"), f.Line))
			}
		}
		if len(frames) > len(list) {
			list = frames
		}
	}
	return list
}
