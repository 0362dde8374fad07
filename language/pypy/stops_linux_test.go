package pypy_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/pypy"
)

// script returns the path of a program of testdata.
func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// modes are options of PyPy's: without its compiler, with one that compiles early, and as PyPy does
// by itself.
var modes = map[string][]string{
	"interpreted": {"--jit", "off"},
	"eager":       {"--jit", "threshold=37,function_threshold=53,trace_eagerness=5"},
	"usual":       nil,
}

// traces are what a program has told: the trace of each number, the innermost frame first.
type traces struct {
	mu  sync.Mutex
	all map[int][]told
}

// told is a frame as sys._getframe has it.
type told struct{ name, file, line string }

// read reads them for as long as the program runs.
func (x *traces) read(p *gdbtest.Process) {
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			return
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		number, err := strconv.Atoi(parts[0])
		if err != nil {
			continue
		}
		var list []told
		for i := 1; i+2 < len(parts); i += 3 {
			list = append(list, told{parts[i], parts[i+1], parts[i+2]})
		}
		x.mu.Lock()
		x.all[number] = list
		x.mu.Unlock()
	}
}

func (x *traces) of(number int) []told {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all[number]
}

// within are the functions that "work" calls.
var within = []string{"small", "__init__", "__add__", "Number.__init__", "Number.__add__"}

// counts is what was seen: of stops the ones at which a trace is known, the ones at which compiled
// code was being left, the ones that are wrong, of these the ones without a guess, which lack inner
// functions, and the ones whose stack is not whole; of frames the ones whose line is right, and the
// ones that are a guess.
type counts struct{ stops, told, leaving, wrong, silent, cut, frames, lines, guesses int }

// TestStops stops a busy program at random moments, interpreted and compiled. Its frames are the
// ones that sys._getframe has told of the same call.
func TestStops(t *testing.T) {
	stops := 110
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	path := gdbtest.Tool(t, "pypy3")
	for mode, options := range modes {
		t.Run(mode, func(t *testing.T) {
			oracle := filepath.Join(t.TempDir(), "number")
			t.Setenv("ORACLE", oracle)
			p := gdbtest.StartRunning(t, path, append(slices.Clone(options), script(t, "busy.py"))...)
			said := &traces{all: map[int][]told{}}
			go said.read(p)
			var n counts
			for n.told < stops && n.stops < 10*stops {
				for range rand.N(100) {
					p.States(t) // it runs meanwhile
				}
				p.Stop(t)
				d := languagetest.Attach(t, p.PID, pypy.Decorator{}, nil)[p.PID]
				number := numberIn(t, oracle)
				n.hold(t, d, said.of(number))
				if t.Failed() {
					t.Fatalf("number %d\n%s", number, dump(d))
				}
				p.Continue(t)
			}
			t.Logf("%+v", n)
			if n.told < stops || n.lines == 0 || n.cut > 2+n.stops/20 || n.leaving > 2+n.stops/20 || n.wrong > n.told/3 || n.silent > 1+n.told/50 {
				t.Error("too little is right")
			}
			if mode == "interpreted" && (n.leaving > 0 || n.wrong > 0 || n.cut > 0 || n.lines < n.frames || n.guesses > 0) {
				t.Error("the interpreter's frames are sure")
			}
		})
	}
}

// numberIn returns the number of what runs, 0 for none.
func numberIn(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || len(b) < 8 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	return int(binary.LittleEndian.Uint64(b))
}

// hold holds a stack against what was told of it. A stack that is wrong must have a guess, but for
// functions that are missing.
func (n *counts) hold(t *testing.T, d *languagetest.Thread, want []told) {
	t.Helper()
	n.stops++
	if !d.Stack.Whole {
		n.cut++
	}
	if w := d.Warnings(); len(w) > 0 {
		if len(w) > 1 || !strings.Contains(w[0], "is just being left") {
			t.Errorf("%q", w)
		}
		n.leaving++
		return
	}
	got := d.Frames()
	if want == nil {
		return
	}
	n.told++
	guess := slices.ContainsFunc(got, func(f language.Placed) bool { return f.Guess })
	for len(got) > 0 && slices.Contains(within, got[0].Function) {
		got = got[1:]
	}
	missing := len(want) - len(got)
	same := missing >= 0
	for i := 0; same && i < len(got); i++ {
		same = got[i].Function == want[i+missing].name && got[i].File == want[i+missing].file
	}
	if !same || missing > 0 {
		n.wrong++
		switch {
		case guess:
		case same:
			n.silent++
		default:
			t.Errorf("want %+v", want)
		}
		return
	}
	n.frames += len(got)
	for i, f := range got {
		if f.Guess {
			n.guesses++
		}
		switch right := strconv.Itoa(f.Line) == want[i].line; {
		case right || i == 0 && f.Line > 0: // "work" has gone on
			n.lines++
		case !f.Guess:
			t.Errorf("frame %d: line %d, want %+v", i, f.Line, want[i])
		}
	}
}

func dump(d *languagetest.Thread) string {
	var b strings.Builder
	for level, f := range d.Stack.Frames {
		fn, _ := f.Function()
		fmt.Fprintf(&b, "#%d %#x in %#x %s\n", level, f.PC(), fn, f.Sniffer())
		if d.Said != nil && d.Said.At[level] != nil {
			for _, in := range d.Said.At[level].Frames {
				fmt.Fprintf(&b, "    %s %s:%d %s %v\n", in.Function, in.File, in.Line, in.Kind, in.Guess)
			}
		}
	}
	return b.String()
}
