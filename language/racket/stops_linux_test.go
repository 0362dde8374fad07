package racket_test

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
	"github.com/sfwalk/sfwalk/language/racket"
	"github.com/sfwalk/sfwalk/target/core"
)

// scheme is a run time, and how it tells of its stacks.
type scheme struct {
	tool, program string
	arguments     []string
	// same returns a frame as the run time writes it; "" if it leaves out such a frame.
	same func(f language.Placed) string
	// left reports whether a line of the run time has no frame.
	left func(line string) bool
}

var chez = scheme{
	tool: "chezscheme", program: "busy.ss", arguments: []string{"--script"},
	same: func(f language.Placed) string {
		return fmt.Sprintf("%s\t%s\t%d\t%d", strings.TrimPrefix(f.Function, "#<procedure>"), f.File, f.Line, f.Column)
	},
}

var racketCS = scheme{
	tool: "racket", program: "busy.rkt",
	same: func(f language.Placed) string {
		switch {
		case f.Function == "#<procedure>" && f.File == "":
			return ""
		case f.Function == "#<procedure>", strings.Contains(f.Function, ":") && f.File != "":
			f.Function = ""
		}
		return fmt.Sprintf("%s\t%s\t%d\t%d", f.Function, f.File, f.Line, f.Column)
	},
	left: func(line string) bool { return strings.HasPrefix(line, "body of ") },
}

// start starts the program.
func (s *scheme) start(t *testing.T, how string) *languagetest.Told {
	t.Helper()
	gdbtest.NeedAMD64(t)
	tool := gdbtest.Tool(t, s.tool)
	source, err := filepath.Abs("testdata/oracle.c")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := os.ReadFile(gdbtest.Compile(t, source, gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-O1"))
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(t.TempDir(), "oracle.so") // Racket adds the ending, if there is none
	if err := os.WriteFile(library, compiled, 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs("testdata/" + s.program)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PLT_SHOW_BUILTIN_CONTEXT", "1") // Racket leaves out its own procedures else
	return languagetest.StartTold(t, tool, append(slices.Clone(s.arguments), program, library, how)...)
}

// told is what the oracle has written.
func (s *scheme) told(text string) (phase string, frames []string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		kind, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		switch {
		case kind == "phase":
			phase = rest
		case s.left == nil || !s.left(rest):
			frames = append(frames, moving(rest))
		}
	}
	return phase, frames
}

// moving returns a frame without its line if it is the one that has told the others: it has gone
// on.
func moving(frame string) string {
	if parts := strings.Split(frame, "\t"); parts[0] == "leaf" {
		return strings.Join(parts[:2], "\t")
	}
	return frame
}

// written returns the frames of a stack as the run time writes them. A procedure that has called C
// has no place there, but that C has called Scheme again.
func (s *scheme) written(d *languagetest.Thread) (frames []string) {
	inner := false
	for level := range d.Stack.Frames {
		if d.Said == nil || d.Said.At[level] == nil || len(d.Said.At[level].Frames) == 0 {
			continue
		}
		list := d.Said.At[level].Frames
		if inner {
			list = list[1:]
		}
		for _, f := range list {
			if one := s.same(f); one != "" {
				frames = append(frames, moving(one))
			}
		}
		inner = true
	}
	return frames
}

// stops stops a busy program at random moments. The procedures that wait are the ones that the run
// time itself has told.
func (s *scheme) stops(t *testing.T, stops int) {
	p := s.start(t, "")
	seen, compared, innermost, other, early, wrong := 0, 0, 0, 0, 0, 0
	for range stops {
		var d *languagetest.Thread
		text := p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, racket.Decorator{}, nil)[p.PID] })
		phase, want := s.told(text)
		all := d.Frames()
		got := s.written(d)
		if w := d.Warnings(); len(w) > 0 {
			t.Logf("%q\n%s", w, dump(d))
			early++ // the stack is just changing
			continue
		}
		if len(want) == 0 {
			continue // what waits may change
		}
		if !slices.ContainsFunc(all, func(f language.Placed) bool { return f.Function == "leaf" }) {
			t.Logf("elsewhere, %s\n%s", phase, dump(d))
			other++ // Racket's scheduler runs
			continue
		}
		compared++
		if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
			t.Logf("the run time says\n%s\nand sfwalk\n%s\n%s", short(want), short(got), dump(d))
			wrong++
			continue
		}
		seen += len(want)
		if slices.ContainsFunc(all, func(f language.Placed) bool { return f.Function == phase }) {
			innermost++
		} else if phase != "" {
			t.Logf("%s runs\n%s", phase, dump(d))
		}
	}
	t.Logf("%d stops, %d compared, %d frames that wait, %d wrong; %d elsewhere, %d end early; the procedure that runs is there in %d", stops, compared, seen, wrong, other, early, innermost)
	if compared < stops/3 || innermost < compared*3/4 || wrong > 0 || early > 1+stops/100 {
		t.Error("too little is right")
	}
}

// TestStops stops Chez Scheme.
func TestStops(t *testing.T) {
	stops := 60
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	chez.stops(t, stops)
}

// TestStopsRacket stops Racket. It is told to note each place in the source, or each procedure's
// alone, as it does by itself.
func TestStopsRacket(t *testing.T) {
	gdbtest.NeedSoak(t)
	t.Run("procedures", func(t *testing.T) { racketCS.stops(t, 1000) })
	t.Run("places", func(t *testing.T) {
		t.Setenv("PLT_CS_DEBUG", "1")
		racketCS.stops(t, 1000)
	})
}

// TestRest holds a program that stands still, and its core file, against Chez Scheme's own stack.
func TestRest(t *testing.T) {
	p := chez.start(t, "rest")
	p.Rest(t)
	live := languagetest.Attach(t, p.PID, racket.Decorator{}, nil)[p.PID]
	path := filepath.Join(t.TempDir(), "core")
	gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
	tg, err := core.Open(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	dumped := languagetest.All(t, tg, racket.Decorator{}, nil)[p.PID]
	_, want := chez.told(p.AtRandom(t, func() {}))
	got := chez.written(live)
	if len(want) == 0 || len(got) != len(want)+1 || !slices.Equal(got[1:], want) || !slices.Equal(got, chez.written(dumped)) {
		t.Errorf("the run time says\n%s\nand sfwalk\n%s\nand of the core file\n%s", short(want), dump(live), dump(dumped))
	}
}

// short leaves out the middle of a long list.
func short(list []string) string {
	if len(list) > 80 {
		list = append(append(slices.Clone(list[:40]), "..."), list[len(list)-40:]...)
	}
	return strings.Join(list, "\n")
}

func dump(d *languagetest.Thread) string {
	var lines []string
	for level, f := range d.Stack.Frames {
		fn, _ := f.Function()
		lines = append(lines, fmt.Sprintf("#%d %#x in %#x", level, f.PC(), fn))
		if d.Said != nil && d.Said.At[level] != nil {
			for _, in := range d.Said.At[level].Frames {
				lines = append(lines, fmt.Sprintf("    %s %s:%d:%d %s", in.Function, in.File, in.Line, in.Column, in.Kind))
			}
		}
	}
	return short(lines)
}
