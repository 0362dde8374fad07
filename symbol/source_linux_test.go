package symbol

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// listing is a source that has gdb's answers for one program.
type listing struct {
	path   string
	bias   uint64
	at     map[uint64][]Location // by link-time address
	opened atomic.Int32
	err    error
}

func (l *listing) Open(m *target.Module) (Table, error) {
	if m.Path != l.path {
		return nil, nil
	}
	l.opened.Add(1)
	return l, l.err
}

func (l *listing) Locate(pc uint64) []Location { return l.at[pc-l.bias] }

func (l *listing) Warnings() []error { return []error{errors.New("a line is malformed")} }

// newListing makes a source of gdb's answers for the addresses of a program.
func newListing(path string, bias uint64, answers []answer) *listing {
	l := &listing{path: path, bias: bias, at: make(map[uint64][]Location)}
	for _, a := range answers {
		at := Location{File: a.File, Line: a.Line, Start: a.PC + bias}
		if len(a.Chain) == 0 {
			name, _, _ := strings.Cut(a.Symbol, " + ")
			at.Function = name
			l.at[a.PC] = []Location{at}
			continue
		}
		for i, f := range a.Chain {
			at.Function, at.Inline, at.Args = f.Function, i < len(a.Chain)-1, ArgsNone
			if f.Args {
				at.Args = ArgsSome
			}
			l.at[a.PC] = append(l.at[a.PC], at)
			at.File, at.Line = "", 0
			if f.Line > 0 {
				at.File, at.Line = f.File, f.Line
			}
		}
	}
	return l
}

// A stripped program has the names, lines and inlined calls of another source. A program with DWARF
// has its DWARF's.
func TestSource(t *testing.T) {
	whole := compile(t, sources(t), "cc", "calls.c", "-O2", "-g", "-Iinc", "-no-pie")
	stripped := filepath.Join(t.TempDir(), "program")
	run(t, "", "objcopy", "--strip-all", whole, stripped)
	answers := slices.DeleteFunc(askGDB(t, whole, textAddresses(t, whole, ".text", 3)), func(a answer) bool { return len(a.Chain) == 0 })
	ms, bias := mapped(t, stripped)
	own := New(Options{})
	nothing := 0
	for _, a := range answers {
		if at := own.Locate(ms, a.PC+bias); at[0].Line == 0 {
			nothing++
		}
	}
	if nothing != len(answers) || nothing < 100 {
		t.Fatalf("%d of %d addresses have no line in the stripped program: the test does not test", nothing, len(answers))
	}

	empty := &listing{path: "/another"}
	source := newListing(stripped, bias, answers)
	source.err = errors.New("it is old")
	s := New(Options{Sources: []Source{empty, source}})
	failed := 0
	inlined := 0
	for _, a := range answers {
		got := s.Locate(ms, a.PC+bias)
		want := source.at[a.PC]
		inlined += len(want) - 1
		same := len(got) == len(want)
		for i := range got {
			same = same && got[i].Module == ms.All()[0] && got[i].Function == want[i].Function && got[i].Line == want[i].Line && got[i].Inline == want[i].Inline
		}
		if !same && failed < 10 {
			failed++
			t.Errorf("%#x: %+v, want %+v", a.PC, got, want)
		}
	}
	if inlined < 100 {
		t.Errorf("%d inlined calls: the test does not test", inlined)
	}
	if n := source.opened.Load(); n != 1 {
		t.Errorf("the source was asked %d times for the module, want once", n)
	}
	var warnings []string
	for _, w := range s.Warnings(ms.All()[0]) {
		warnings = append(warnings, w.Error())
	}
	if want := []string{stripped + ": it is old", stripped + ": a line is malformed"}; !slices.Equal(warnings, want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}

	// The program's own DWARF is asked first.
	_, bias = mapped(t, whole)
	other := newListing(whole, bias, answers)
	for _, chain := range other.at {
		for i := range chain {
			chain[i].Function = "wrong"
		}
	}
	compare(t, New(Options{Sources: []Source{silent{other}}}), whole, answers)
}

// silent is a source whose tables have no warnings.
type silent struct{ *listing }

func (s silent) Open(m *target.Module) (Table, error) {
	if m.Path != s.path {
		return nil, nil
	}
	return s, nil
}

func (silent) Warnings() []error { return nil }

// A function with a line is better than a function alone, which is better than a line alone. Names
// are bounded. A module without a file has the names that a source gives.
func TestSourceOrder(t *testing.T) {
	const pc = 0x1000
	chain := func(function string, line int) []Location { return []Location{{Function: function, Line: line}} }
	source := func(at []Location) Source {
		return silent{&listing{path: "gone", at: map[uint64][]Location{pc: at}}}
	}
	for _, test := range []struct {
		sources [][]Location
		want    Location
	}{
		{nil, Location{}},
		{[][]Location{nil}, Location{}},
		{[][]Location{nil, chain("a", 0)}, Location{Function: "a"}},
		{[][]Location{chain("", 1), chain("a", 0)}, Location{Function: "a"}},
		{[][]Location{chain("a", 0), chain("", 1)}, Location{Function: "a"}},
		{[][]Location{chain("a", 0), chain("b", 0), chain("c", 3), chain("d", 4)}, Location{Function: "c", Line: 3}},
		{[][]Location{chain(strings.Repeat("n", maxName+1), 1)}, Location{Function: Truncate(strings.Repeat("n", maxName+1)), Line: 1}},
	} {
		m := target.NewModule("gone", []target.Mapping{{Lo: pc, Hi: pc + 1, Exec: true}}, func() (*elf.Image, error) { return nil, nil })
		var opts Options
		for _, at := range test.sources {
			opts.Sources = append(opts.Sources, source(at))
		}
		test.want.Module = m
		got := New(opts).Locate(target.NewModules([]*target.Module{m}, nil), pc)
		if len(got) != 1 || got[0] != test.want {
			t.Errorf("%.100v: %.200v, want %.200v", test.sources, got, test.want)
		}
		for _, at := range test.sources {
			if len(at) > 0 && at[0].Module != nil {
				t.Error("what a source has given was changed")
			}
		}
	}
}
