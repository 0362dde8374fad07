package guile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/guile"
	"github.com/sfwalk/sfwalk/target/core"
)

// start starts testdata/busy.scm. Guile compiles it first, into a folder of the test's.
func start(t *testing.T, how string) *languagetest.Told {
	t.Helper()
	interpreter := gdbtest.Tool(t, "guile")
	headers := "/usr/include/guile/3.0"
	gdbtest.File(t, headers+"/libguile.h")
	paths := map[string]string{}
	for _, name := range []string{"busy.scm", "oracle.c"} {
		path, err := filepath.Abs("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		paths[name] = path
	}
	oracle := gdbtest.Compile(t, paths["oracle.c"], gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-w", "-O1", "-I"+headers)
	library := filepath.Join(t.TempDir(), "oracle.so") // Guile adds the ending
	if err := os.Symlink(oracle, library); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GUILE_AUTO_COMPILE", "1")
	return languagetest.StartTold(t, interpreter, "--no-debug", paths["busy.scm"], strings.TrimSuffix(library, ".so"), how)
}

// told is what the oracle has written.
func told(text string) (phase string, frames []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		kind, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if kind == "phase" {
			phase = rest
		} else {
			frames = append(frames, rest)
		}
	}
	return phase, frames
}

func written(list []language.Placed) (frames []string) {
	for _, f := range list {
		frames = append(frames, fmt.Sprintf("%s\t%s\t%d", f.Function, f.File, f.Line))
	}
	return frames
}

// TestStops stops a busy program at random moments. The procedures that wait are the ones that
// Guile's own stacks have, and the innermost one is the one that runs.
func TestStops(t *testing.T) {
	stops := 60
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	p := start(t, "")
	seen, compared, innermost, guesses, other := 0, 0, 0, 0, 0
	for range stops {
		var d *languagetest.Thread
		text := p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, guile.Decorator{}, nil)[p.PID] })
		phase, want := told(text)
		all := d.Frames()
		got := written(all)
		if w := d.Warnings(); len(w) > 0 && (len(w) > 1 || d.Stack.Whole || !strings.HasSuffix(w[0], language.NoPlace)) {
			t.Errorf("%q\n%s", w, dump(d))
		}
		if len(want) == 0 {
			continue // what waits may change
		}
		compared++
		if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
			t.Fatalf("Guile says\n%s\nand sfwalk\n%s\n%s", text, strings.Join(got, "\n"), dump(d))
		}
		seen += len(want)
		if phase == "" {
			continue
		}
		if all[0].Guess {
			guesses++
		}
		if all[0].Function == phase {
			innermost++
		} else if all[0].Function != "leaf" {
			other++ // a procedure without a name has just called it
			t.Logf("%s runs\n%s\n%s", phase, strings.Join(got[:len(got)-len(want)], "\n"), dump(d))
		}
	}
	t.Logf("%d stops, %d compared, %d frames that wait; the innermost one is right in %d, %d guesses, %d wrong", stops, compared, seen, innermost, guesses, other)
	if compared < stops/3 || innermost < compared*3/4 || other > 1+stops/50 {
		t.Error("too little is right")
	}
}

// TestRest holds a program that stands still, and its core file, against Guile's own stack.
func TestRest(t *testing.T) {
	p := start(t, "rest")
	p.Rest(t)
	live := written(languagetest.Attach(t, p.PID, guile.Decorator{}, nil)[p.PID].Frames())
	// The kernel leaves out files that are mapped, unless it is told not to. So does gdb.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/coredump_filter", p.PID), []byte("0x3f"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "core")
	gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
	tg, err := core.Open(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	dumped := written(languagetest.All(t, tg, guile.Decorator{}, nil)[p.PID].Frames())
	text := p.AtRandom(t, func() {})
	if _, want := told(text); len(want) == 0 || len(live) != len(want)+1 || !slices.Equal(live[1:], want) || !slices.Equal(live, dumped) {
		t.Errorf("Guile says\n%s\nand sfwalk\n%s\nand of the core file\n%s", text, strings.Join(live, "\n"), strings.Join(dumped, "\n"))
	}
}

func dump(d *languagetest.Thread) string {
	var b strings.Builder
	for level, f := range d.Stack.Frames {
		fn, _ := f.Function()
		fmt.Fprintf(&b, "#%d %#x in %#x\n", level, f.PC(), fn)
		if d.Said != nil && d.Said.At[level] != nil {
			for _, in := range d.Said.At[level].Frames {
				fmt.Fprintf(&b, "    %s %s:%d %s\n", in.Function, in.File, in.Line, in.Kind)
			}
		}
	}
	return b.String()
}
