package lua_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/lua"
)

// luas returns the paths of all interpreters here, and the folders of their headers.
func luas(t *testing.T) (list [][2]string) {
	t.Helper()
	gdbtest.Later(t, "lua5.4")
	for _, release := range []string{"5.1", "5.2", "5.3", "5.4", "5.5"} {
		interpreter, headers := "/usr/bin/lua"+release, "/usr/include/lua"+release
		if _, err := os.Stat(interpreter); err != nil {
			continue
		}
		if _, err := os.Stat(headers); err == nil {
			list = append(list, [2]string{interpreter, headers})
		}
	}
	if len(list) == 0 {
		gdbtest.Missing(t, "no Lua with headers is here")
	}
	return list
}

// oracleOf compiles testdata/oracle.c.
func oracleOf(t *testing.T, headers string) string {
	t.Helper()
	source, err := filepath.Abs("testdata/oracle.c")
	if err != nil {
		t.Fatal(err)
	}
	return gdbtest.Compile(t, source, gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-w", "-O1", "-I"+headers)
}

// frames returns the frames of a thread as the oracle writes them.
func frames(d *languagetest.Thread) (list []string) {
	for _, f := range d.Frames() {
		if strings.HasPrefix(f.Kind, "native") {
			list = append(list, "C")
			continue
		}
		list = append(list, fmt.Sprintf("Lua\t%s\t%d", f.File, f.Line))
	}
	return list
}

// parse returns the calls that the oracle has written, of each state, what their callers call them,
// and the next line that runs.
func parse(text string) (states, names [][]string, next string) {
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, "name\t"); ok {
			names[len(states)-1] = append(names[len(states)-1], name)
			continue
		}
		if f := strings.Split(line, "\t"); len(f) == 3 {
			if file, ok := strings.CutPrefix(f[1], "@"); ok {
				f[1] = file
			} else if file, ok := strings.CutPrefix(f[1], "="); ok {
				f[1] = file
			}
			line = strings.Join(f, "\t")
		}
		if rest, ok := strings.CutPrefix(line, "next"); ok {
			next = "Lua" + rest
		} else if line == "state" {
			states, names = append(states, nil), append(names, nil)
		} else if n := len(states) - 1; n >= 0 {
			states[n] = append(states[n], line)
		}
	}
	return states, names, next
}

// TestStops stops a busy program at random moments. Its frames are the ones that Lua's own
// functions tell at the same moment, each in its place.
func TestStops(t *testing.T) {
	stops := 30
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	busy, err := filepath.Abs("testdata/busy.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range luas(t) {
		t.Run(filepath.Base(l[0]), func(t *testing.T) {
			start := func() *languagetest.Told { return languagetest.StartTold(t, l[0], busy, oracleOf(t, l[1])) }
			p, seen, places, moments, lines, deaths, named := start(), 0, 0, 0, 0, 0, map[string]int{}
			for range stops {
				var d *languagetest.Thread
				text := p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, lua.Decorator{}, nil)[p.PID] })
				if text == "" {
					p, deaths = start(), deaths+1
					continue
				}
				states, names, next := parse(text)
				got, want := frames(d), slices.Concat(states...)
				switch w := d.Warnings(); {
				case len(w) == 1 && strings.Contains(w[0], "makes no sense") && len(got) < len(want):
					moments++ // the stack is just being made larger: the calls still lead to the old one
					want = want[:len(got)]
				case len(w) > 0:
					t.Errorf("%q", w)
				case len(got) == len(want):
				case len(got) == len(want)-1 && want[0] == "C":
					moments++ // it has just returned
					want = want[1:]
				case len(states) > 1 && len(got) == len(want)-len(states[0]):
					moments++ // a coroutine is just being resumed, or has just yielded
					want = slices.Concat(states[1:]...)
				}
				// Lua notes only now and then where its innermost function is.
				if all := d.Frames(); len(got) > 0 && len(want) > 0 && got[0] != want[0] && strings.HasPrefix(want[0], "Lua") {
					if got[0] != next && next != "" && !all[0].Guess {
						lines++
					}
					got[0] = want[0]
				}
				for i, w := range want { // a function that has run no instruction yet, for which 5.1 to 5.3 read a line where none is
					if f := strings.Split(w, "\t"); i < len(got) && len(f) == 3 && (f[2] == "0" || f[2] == "-1") {
						want[i] = got[i]
					}
				}
				if len(got) == len(want) && len(got) > 1 && got[1] != want[1] && strings.HasPrefix(want[1], "Lua") && slices.Equal(got[2:], want[2:]) {
					moments++ // its caller has not noted where it is
					got[1] = want[1]
				}
				if !slices.Equal(got, want) {
					t.Errorf("Lua says\n%s\nand sfwalk\n%s\n%s", text, strings.Join(got, "\n"), dump(d))
				}
				if all := slices.Concat(names...); len(all) == len(d.Frames()) && states != nil && len(all) == len(want) {
					for i, f := range d.Frames() {
						named[checkName(t, l[0], &f.Frame, all[i])]++
					}
				}
				own, thrown := checkPlaces(t, d)
				places, moments = places+own, moments+thrown
				if t.Failed() {
					break
				}
				seen += len(got)
			}
			t.Logf("%d stops, %d frames, %d places, names %v, %d in the middle of a call, %d innermost lines neither noted nor next, %d deaths", stops, seen, places, named, moments, lines, deaths)
			if n := named["local"] + named["upvalue"] + named["field"]; n < stops/10 {
				t.Errorf("only %d names are ones that callers have", n)
			}
			// Lua cannot be asked at any moment: some deaths are to be expected.
			if most := 1 + stops/50; moments > most || lines > 10*most || deaths > stops/5 {
				t.Error("there are too many of these")
			}
		})
	}
}

// checkName holds what a function is called against what its caller calls it: what that is, and the
// name. A function in a table of package.loaded has its name there. It returns what it has seen.
func checkName(t *testing.T, interpreter string, f *language.Frame, told string) string {
	t.Helper()
	what, name, _ := strings.Cut(told, "\t")
	global := f.Function == "work" || slices.Contains(libraries, strings.Split(f.Function, ".")[0])
	switch what {
	case "metamethod":
		name = "__" + strings.TrimPrefix(name, "__")
	case "hook":
		name = "hook"
	}
	none := strings.HasPrefix(f.Function, "function <") || strings.HasPrefix(f.Function, "C function ") || f.Function == "main chunk"
	switch {
	case global && f.Function != name:
		return "global"
	case strings.HasSuffix(interpreter, "5.3") && (name == "__gc" || f.Function == "__gc"):
		return "finalizer" // 5.3 calls the finalizer's caller so
	case name == "" || name == "?" || name == "integer index":
		if !none {
			t.Errorf("%+v: Lua calls it %q", *f, told)
		}
		return "none"
	case f.Function != name:
		t.Errorf("%+v: Lua calls it %q", *f, told)
	}
	return what
}

// libraries are tables in package.loaded, and functions in _G.
var libraries = strings.Fields("string table math coroutine debug os io package assert pcall xpcall error tostring select print rawset rawget collectgarbage next pairs ipairs load loadstring setmetatable")

// checkPlaces holds that each function of the oracle's that runs has its own call next to it. It
// returns how many it has seen. An error that is thrown leaves the C functions before it leaves
// Lua's record of calls: thrown counts the places that have such calls, too.
func checkPlaces(t *testing.T, d *languagetest.Thread) (seen, thrown int) {
	t.Helper()
	for level, f := range d.Stack.Frames {
		m := f.Module()
		if level == 0 || m == nil || filepath.Base(m.Path) != "oracle" {
			continue
		}
		im, bias, err := m.PeekImage()
		if err != nil {
			t.Fatal(err)
		}
		sym, ok := im.Symbols().Find(f.AddressInBlock() - bias)
		name := im.Symbols().Name(sym)
		if !ok || name != "o_call" && name != "o_attempt" && name != "auxwrap" {
			continue
		}
		at := d.Said.At[level]
		own := func(f language.Placed) bool { // a coroutine's has any name
			return strings.HasPrefix(f.Kind, "native") && (name == "auxwrap" || strings.HasSuffix(f.Function, strings.TrimPrefix(name, "o_")))
		}
		switch {
		case at != nil && !at.Hidden && len(at.Frames) > 0 && own(at.Frames[0]):
		case at != nil && !at.Hidden && len(at.Frames) > 0 && at.Frames[0].Function == "error" && slices.ContainsFunc(at.Frames, own):
			thrown++
		default:
			t.Errorf("%s at %d has not its own call next to it\n%s", name, level, dump(d))
		}
		seen++
	}
	return seen, thrown
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
