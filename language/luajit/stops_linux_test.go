package luajit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/luajit"
)

// headers are the ones of the LuaJIT that is here.
func headers(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/include/luajit-2.1")
	if len(found) == 0 {
		gdbtest.Missing(t, "LuaJIT's headers are not here")
	}
	return found[0]
}

// oracleOf compiles testdata/oracle.c.
func oracleOf(t *testing.T) string {
	t.Helper()
	return gdbtest.Compile(t, absolute(t, "testdata/oracle.c"), gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-w", "-O1", "-I"+headers(t))
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stops returns how many stops a test makes.
func stops() int {
	if os.Getenv("SFWALK_SOAK") == "1" {
		return 1000
	}
	return 30
}

// frames returns the frames of a thread as the oracle writes them, but for names.
func frames(d *languagetest.Thread) (list []string) {
	for _, f := range d.Frames() {
		if strings.HasPrefix(f.Kind, "native") {
			list = append(list, "C\t\t")
		} else {
			list = append(list, fmt.Sprintf("Lua\t%s\t%d", f.File, f.Line))
		}
	}
	return list
}

// called is a frame of the oracle's, and its name.
type called struct{ frame, name string }

// parse returns the calls that the oracle has written, of each state: at once, and at the next
// instruction.
func parse(text string) (now, next [][]called) {
	at := &now
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		switch line = strings.Trim(line, "\n"); line {
		case "now":
		case "next":
			at = &next
		case "state":
			*at = append(*at, nil)
		default:
			i := strings.LastIndexByte(line, '\t')
			n := len(*at) - 1
			(*at)[n] = append((*at)[n], called{line[:i], line[i+1:]})
		}
	}
	return now, next
}

func framesOf(list []called) (frames []string) {
	for _, c := range list {
		frames = append(frames, c.frame)
	}
	return frames
}

// TestStops stops a busy program, which is interpreted, at random moments. Its frames are the ones
// that Lua's own functions tell at the same moment, if the program is in C; else at the next
// instruction, which may begin a function or have left one.
func TestStops(t *testing.T) {
	interpreter := gdbtest.Tool(t, "luajit")
	oracle, busy := oracleOf(t), absolute(t, "testdata/busy.lua")
	start := func() *languagetest.Told { return languagetest.StartTold(t, interpreter, "-joff", busy, oracle) }
	p, seen, inC, moments, lines, deaths, names := start(), 0, 0, 0, 0, 0, 0
	for range stops() {
		var d *languagetest.Thread
		text := p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, luajit.Decorator{}, nil)[p.PID] })
		if text == "" {
			p, deaths = start(), deaths+1
			continue
		}
		now, next := parse(text)
		got, all := frames(d), d.Frames()
		seen += len(got)
		want := slices.Concat(now...)
		fits := len(got) == len(want) && len(got) > 0 && slices.Equal(got[1:], framesOf(want[1:])) && kind(got[0]) == kind(want[0].frame)
		if fits {
			inC++
			for i, f := range all {
				if name := want[i].name; name != "" && f.Function != "main chunk" {
					if names++; f.Function != name && !strings.HasSuffix(f.Function, "."+name) {
						t.Errorf("%d: %s, Lua calls it %s", i, f.Function, name)
					}
				}
			}
		}
		then := framesOf(slices.Concat(next...))
		later := leads(got, then) || leads(then, got)
		if n := len(got); !fits && !later && n > 1 && n == len(then) && slices.Equal(got[1:], then[1:]) {
			later, moments = true, moments+1 // a tail call
		}
		switch {
		case len(d.Warnings()) == 1 && isMoment(d.Warnings()[0]):
			moments++
		case len(d.Warnings()) > 0:
			t.Errorf("%q: Lua says\n%s\nand sfwalk\n%s", d.Warnings(), text, dump(d))
		case fits || later:
			if f := all[0]; !f.Guess && !strings.HasPrefix(f.Kind, "native") && !slices.Contains(then, got[0]) && (len(want) == 0 || got[0] != want[0].frame) {
				lines++
			}
		case changes(got, now), changes(got, next), thrown(got, then):
			moments++ // a coroutine is just being resumed, or has just yielded or failed; or an error is just being thrown
		default:
			t.Errorf("Lua says\n%s\nand sfwalk\n%s\n%s", text, strings.Join(got, "\n"), dump(d))
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d stops, %d frames, %d in C or as at once, %d names, %d where a coroutine is resumed, a tail called or the stack is being made larger, %d innermost lines neither noted nor next, %d deaths", stops(), seen, inC, names, moments, lines, deaths)
	if most := 1 + stops()/30; moments > most || lines > 5*most || deaths > stops()/5 {
		t.Error("there are too many of these")
	}
}

// like reports whether frames are the same, but for the innermost line.
func like(a, b []string) bool {
	return len(a) == len(b) && len(a) > 0 && slices.Equal(a[1:], b[1:]) && kind(a[0]) == kind(b[0])
}

// leads reports whether one instruction leads from frames to other ones: it leaves the innermost
// function, and functions of C that have called that, such as pcall.
func leads(from, to []string) bool {
	for n := 0; n < len(from); n++ {
		if like(from[n:], to) {
			return true
		}
		if n > 0 && kind(from[n]) != kind("C\t\t") {
			break
		}
	}
	return false
}

// changes reports whether frames are the ones of states, but for the innermost coroutine, which has
// not begun or has ended for one of them.
func changes(got []string, states [][]called) bool {
	if len(states) < 2 {
		return false
	}
	outer := framesOf(slices.Concat(states[1:]...))
	return leads(outer, got) || len(outer) <= len(got) && like(got[len(got)-len(outer):], outer)
}

// thrown reports whether an error leads from frames to other ones.
func thrown(from, to []string) bool {
	return len(from) > len(to) && like(from[len(from)-len(to):], to)
}

// kind returns which kind of function a frame has, and its file.
func kind(frame string) string { return frame[:strings.LastIndexByte(frame, '\t')] }

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
