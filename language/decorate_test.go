package language_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// recorded returns the stack of a recorded process, of three frames.
func recorded(t *testing.T) *language.Stack {
	t.Helper()
	tg, err := snapshot.Open("../target/snapshot/testdata/nap-amd64.snapshot", core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(tg, threads[0], sniffer.Table(tg.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	s := &language.Stack{Arch: tg.Arch(), Thread: threads[0], Memory: target.MemoryOf(tg, threads[0])}
	for f, err := range stack.All() {
		if err != nil {
			t.Fatal(err)
		}
		s.Frames = append(s.Frames, f)
	}
	if len(s.Frames) != 3 {
		t.Fatalf("%d frames", len(s.Frames))
	}
	return s
}

// says is a run time that says the same of each stack.
type says struct {
	decoration *language.Decoration
	err        error
	panics     bool
}

func (x says) Decorate(*language.Stack) (*language.Decoration, error) {
	if x.panics {
		panic("no such method")
	}
	return x.decoration, x.err
}

// extentOf returns the addresses of the stack that a frame takes: [SP, CFA).
func extentOf(s *language.Stack, level int) (sp, cfa uint64) {
	cfa, _ = s.Frames[level].CFA()
	return s.Frames[level].Register(s.Arch.SP).Bits, cfa
}

func group(a language.Anchor, names ...string) language.Group {
	g := language.Group{Anchor: a}
	for _, name := range names {
		g.Frames = append(g.Frames, language.Frame{Function: name})
	}
	return g
}

// shown is a stack as a list: levels of physical frames that are not hidden, and functions.
func shown(s *language.Stack, d *language.Decorated) (list []string) {
	for level := range s.Frames {
		place := d.At[level]
		if place == nil || !place.Hidden {
			list = append(list, "#"+string(rune('0'+level)))
		}
		if place != nil {
			for _, f := range place.Frames {
				list = append(list, f.Language+" "+f.Function)
			}
		}
	}
	return list
}

// TestAnchors: a group stands in the frame to which its anchor leads, and nowhere else.
func TestAnchors(t *testing.T) {
	s := recorded(t)
	sp1, cfa1 := extentOf(s, 1)
	_, cfa2 := extentOf(s, 2)
	at := func(level int, beside bool) language.Anchor {
		cfa, _ := s.Frames[level].CFA()
		return language.Anchor{Level: level, PC: s.Frames[level].PC(), CFA: cfa, Beside: beside}
	}
	wrongPC, wrongCFA := at(1, false), at(1, false)
	wrongPC.PC++
	wrongCFA.CFA += 8
	for _, tt := range []struct {
		what   string
		groups []language.Group
		own    []int
		want   string
		warns  bool
	}{
		{"the first byte of a frame", []language.Group{group(language.Anchor{Address: sp1}, "a", "b")}, nil, "#0 x a x b #2", false},
		{"the last byte of a frame", []language.Group{group(language.Anchor{Address: cfa1 - 1}, "a")}, nil, "#0 x a #2", false},
		{"the first byte of the next", []language.Group{group(language.Anchor{Address: cfa1}, "a")}, nil, "#0 #1 x a", false},
		{"behind all frames", []language.Group{group(language.Anchor{Address: cfa2}, "a")}, nil, "#0 #1 #2 x a", true},
		{"before all frames", []language.Group{group(language.Anchor{Address: 8}, "a")}, nil, "#0 #1 #2 x a", true},
		{"a frame", []language.Group{group(at(0, false), "a")}, nil, "x a #1 #2", false},
		{"beside a frame", []language.Group{group(at(0, true), "a")}, nil, "#0 x a #1 #2", false},
		{"another PC", []language.Group{group(wrongPC, "a")}, nil, "#0 #1 #2 x a", true},
		{"another CFA", []language.Group{group(wrongCFA, "a")}, nil, "#0 #1 #2 x a", true},
		{"no such level", []language.Group{group(language.Anchor{Level: 3}, "a")}, nil, "#0 #1 #2 x a", true},
		{"a level below zero", []language.Group{group(language.Anchor{Level: -1}, "a")}, nil, "#0 #1 #2 x a", true},
		{"two groups in one frame", []language.Group{group(at(1, false), "a"), group(language.Anchor{Address: sp1}, "b")}, nil, "#0 x a x b #2", false},
		{"own frames, and levels that are none", []language.Group{group(at(1, false), "a")}, []int{0, 7, -1}, "x a #2", false},
	} {
		d := language.Decorate(s, []language.Named{{Language: "x", Runtime: says{decoration: &language.Decoration{Groups: tt.groups, Own: tt.own}}}})
		if got := strings.Join(shown(s, d), " "); got != tt.want || (len(d.Warnings) > 0) != tt.warns {
			t.Errorf("%s: %s, %q; want %s", tt.what, got, d.Warnings, tt.want)
		}
		for _, text := range d.Warnings {
			if !strings.HasPrefix(text, "thread ") || !strings.Contains(text, language.NoPlace) {
				t.Errorf("%s: %s", tt.what, text)
			}
		}
	}
}

// TestFailures: a run time that fails costs its own frames, and a warning; what it found before
// stays.
func TestFailures(t *testing.T) {
	s := recorded(t)
	sp, _ := extentOf(s, 1)
	fine := &language.Decoration{Groups: []language.Group{group(language.Anchor{Address: sp}, "a")}}
	d := language.Decorate(s, []language.Named{
		{Language: "x", Runtime: says{panics: true}},
		{Language: "y", Runtime: says{decoration: fine, err: errors.New("the chain is broken")}},
		{Language: "z", Runtime: says{}},
	})
	if got := strings.Join(shown(s, d), " "); got != "#0 y a #2" {
		t.Errorf("%s", got)
	}
	if len(d.Warnings) != 2 || !strings.Contains(d.Warnings[0], "x: the decorator has failed: no such method") || !strings.HasSuffix(d.Warnings[1], "y: the chain is broken") {
		t.Errorf("%q", d.Warnings)
	}
	if d := language.Decorate(s, []language.Named{{Language: "z", Runtime: says{}}}); d != nil {
		t.Errorf("nothing is said, and there is %+v", d)
	}
}

// finder finds a run time in each module, or fails.
type finder struct {
	name   string
	err    error
	panics bool
	looked *[]string
}

func (x finder) Name() string { return x.name }

func (x finder) Wants(*target.Module) bool { return true }

func (x finder) Find(_ *language.Process, m *target.Module) ([]language.Runtime, error) {
	*x.looked = append(*x.looked, x.name)
	if x.panics {
		panic("no table")
	}
	return []language.Runtime{says{}}, x.err
}

// TestFind asks the decorators in their order, and goes on where one fails.
func TestFind(t *testing.T) {
	modules := target.NewModules([]*target.Module{target.NewModule("/x", []target.Mapping{{Lo: 0x1000, Hi: 0x2000}}, nil)}, nil)
	var looked []string
	found, err := language.Find(&language.Process{Modules: modules}, []language.Decorator{
		finder{name: "a", looked: &looked}, finder{name: "b", panics: true, looked: &looked}, finder{name: "c", err: errors.New("of a release that is not known"), looked: &looked},
	})
	if !slices.Equal(looked, []string{"a", "b", "c"}) || len(found) != 2 || found[0].Language != "a" || found[1].Language != "c" {
		t.Errorf("%q, %+v", looked, found)
	}
	if err == nil || !strings.Contains(err.Error(), "/x: frames of b are not shown: the decorator has failed: no table") || !strings.Contains(err.Error(), "/x: frames of c: of a release") {
		t.Errorf("%v", err)
	}
}
