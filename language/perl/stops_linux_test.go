package perl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/perl"
)

// perls returns the paths of all perls here: the system's, and the ones of SFWALK_PERLS.
func perls(t *testing.T) []string {
	t.Helper()
	return append(strings.Fields(os.Getenv("SFWALK_PERLS")), gdbtest.Tool(t, "perl"))
}

// config returns what a perl says of its build.
func config(t *testing.T, interpreter, name string) string {
	t.Helper()
	out, err := exec.Command(interpreter, "-MConfig", "-e", "print $Config{"+name+"}").Output()
	if err != nil {
		t.Fatalf("%s: %v", interpreter, err)
	}
	return strings.TrimSpace(string(out))
}

// oracleOf compiles testdata/oracle.c with the headers of a perl.
func oracleOf(t *testing.T, interpreter string) string {
	t.Helper()
	headers := filepath.Join(config(t, interpreter, "archlibexp"), "CORE")
	if _, err := os.Stat(filepath.Join(headers, "perl.h")); err != nil {
		gdbtest.Missing(t, err.Error())
	}
	source, err := filepath.Abs("testdata/oracle.c")
	if err != nil {
		t.Fatal(err)
	}
	flags := append([]string{gdbtest.Tool(t, "cc")}, strings.Fields(config(t, interpreter, "ccflags"))...)
	return gdbtest.Compile(t, source, append(flags, "-shared", "-fPIC", "-w", "-O1", "-I"+headers)...)
}

// frames returns the frames of a thread as the oracle writes them, without subs in C, of which
// Perl does not tell.
func frames(d *languagetest.Thread) (text string, native int) {
	var b strings.Builder
	for _, f := range d.Frames() {
		if f.Kind == "native" {
			native++
			continue
		}
		fmt.Fprintf(&b, "%s\t%s\t%d\n", f.Function, f.File, f.Line)
	}
	return b.String() + "\n", native
}

// TestStops stops a busy program at random moments. Its frames are the ones that perl's own
// functions tell at the same moment, each in its place.
func TestStops(t *testing.T) {
	stops := 30
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	busy, err := filepath.Abs("testdata/busy.pl")
	if err != nil {
		t.Fatal(err)
	}
	for _, interpreter := range perls(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			start := func() *languagetest.Told {
				return languagetest.StartTold(t, interpreter, busy, oracleOf(t, interpreter), t.TempDir())
			}
			p, seen, native, places, deaths, between := start(), 0, 0, 0, 0, 0
			peer := languagetest.NewPeer(t)
			for range stops {
				var d *languagetest.Thread
				var theirs []languagetest.Call
				want := p.AtRandom(t, func() {
					d = languagetest.Attach(t, p.PID, perl.Decorator{}, nil)[p.PID]
					theirs = peer.Calls(t, p.PID, p.PID)
				})
				if want == "" { // a context was just being made, and led the handler nowhere
					if p, deaths = start(), deaths+1; deaths > 5+stops/20 {
						t.Fatalf("perl has died %d times", deaths)
					}
					continue
				}
				got, n := frames(d)
				if got == "\n" && !strings.Contains(physical(d), "Perl_runops_") {
					between++ // an exception has ended the run loop, and the next has not begun
					continue
				}
				if got != want {
					t.Errorf("perl says\n%sand sfwalk\n%s%s", want, got, physical(d))
				}
				if w := d.Warnings(); len(w) > 0 {
					t.Errorf("%q", w)
				}
				peer.Compare(calls(want), calls(got), theirs)
				places += checkPlaces(t, d)
				if t.Failed() {
					break
				}
				seen, native = seen+strings.Count(got, "\n")-1, native+n
			}
			t.Logf("%d stops, %d frames, %d subs in C, %d places, %d between run loops", stops, seen, native, places, between)
			if between > 1+stops/100 {
				t.Error("there are too many of these")
			}
		})
	}
}

// calls reads frames as the oracle writes them. Other tools have no frames of evals and of files
// that are being loaded: then what these run stands in the sub around them.
func calls(text string) (list []languagetest.Call) {
	var at languagetest.Call
	for line := range strings.Lines(strings.TrimSpace(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if at.File == "" {
			n, _ := strconv.Atoi(f[2])
			at = languagetest.Call{File: f[1], Line: n}
		}
		if word, _, _ := strings.Cut(f[0], " "); word != "eval" && word != "require" {
			at.Function = f[0]
			list, at = append(list, at), languagetest.Call{}
		}
	}
	return list
}

// within are functions of C that call subs, and who can have called them in busy.pl: what stands
// inside of them was called by it.
var within = map[string]string{
	"Perl_pp_sort":       "main::sorts main::sorts_within main::overloads main::sorted",
	"Perl_regexec_flags": "main::patterns",
	"Perl_amagic_call":   "main::overloads main::sorted",
	"Perl_magic_getpack": "main::ties main::natives Sum::__ANON__",
	"Perl_magic_setpack": "main::ties",
	"Perl_pp_tie":        "main::ties main::natives",
	"oracle.c":           "main::natives main::natives_inner main::__ANON__ eval",
	"Perl_pp_warn":       "main::handles",
	"Perl_yyparse":       "eval require (main)",
}

// checkPlaces holds the places of the frames against the functions of C between them. It returns
// how many of these it has seen.
func checkPlaces(t *testing.T, d *languagetest.Thread) (seen int) {
	t.Helper()
	if d.Said == nil {
		return 0
	}
	inside, open := false, "" // the function of C outside of which the next frame stands
	for level, f := range d.Stack.Frames {
		if p := d.Said.At[level]; p != nil {
			for _, in := range p.Frames {
				if in.Kind == "native" {
					continue
				}
				name, _, _ := strings.Cut(in.Function, " ") // of the file, or the kind of the eval
				if open != "" && !slices.Contains(strings.Fields(within[open]), name) {
					t.Errorf("%s at %d was called by %s", open, level, in.Function)
				}
				inside, open = true, ""
			}
		}
		if name := nameOf(f); inside && within[name] != "" {
			open, seen = name, seen+1
		}
	}
	return seen
}

// nameOf returns the name of a frame's function, or of the file for code of the oracle's.
func nameOf(f *frame.Frame) string {
	m := f.Module()
	if m == nil {
		return ""
	}
	if filepath.Base(m.Path) == "oracle" {
		return "oracle.c"
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return ""
	}
	sym, ok := im.Symbols().Find(f.AddressInBlock() - bias)
	if !ok {
		return ""
	}
	return im.Symbols().Name(sym)
}

// physical writes the physical frames of a thread.
func physical(d *languagetest.Thread) string {
	var b strings.Builder
	for level, f := range d.Stack.Frames {
		fmt.Fprintf(&b, "#%d %#x %s, %v\n", level, f.PC(), nameOf(f), f.StopReason())
	}
	return b.String()
}
