package external

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/plugincheck/cores"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer"
)

// scripted is a stack that a plug-in decorates which says what a script has.
type scripted struct {
	subject *cores.Process
	stack   language.Stack
}

func newScripted(t testing.TB) *scripted {
	t.Helper()
	p, err := cores.Open("amd64")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	threads, err := p.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(p, threads[0], sniffer.Table(p.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	x := &scripted{p, language.Stack{Arch: p.Arch(), Thread: threads[0], Memory: p.Memory(), Locals: true}}
	for f, err := range stack.All() {
		if err != nil {
			break
		}
		x.stack.Frames = append(x.stack.Frames, f)
	}
	if len(x.stack.Frames) < 2 {
		t.Fatalf("%d frames", len(x.stack.Frames))
	}
	return x
}

// decorate decorates the stack by what the plug-in says. The error is why it was put out of use.
func (x *scripted) decorate(says []byte) (*language.Decorated, error) {
	r, end := x.runTime(says)
	defer end()
	d := language.Decorate(&x.stack, []language.Named{{Language: "toy", Runtime: r}})
	return d, r.decorator.plugin.Err()
}

// tasks lists the tasks by what the plug-in says.
func (x *scripted) tasks(says []byte) (list []language.Task, fails, fault error) {
	r, end := x.runTime(says)
	defer end()
	list, fails = tasker{r}.Tasks(x.subject.Memory())
	return list, fails, r.decorator.plugin.Err()
}

// runTime is a run time of a plug-in that says what the script has.
func (x *scripted) runTime(says []byte) (r *runTime, end func()) {
	p := &Plugin{opts: Options{StartTimeout: time.Minute, Deadline: time.Minute}, Description: plugin.Description{
		Name: "scripted", Decorates: &plugin.Decorates{Language: "toy", Modules: []string{"*"}},
	}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	s := &session{plugin: p, stream: &script{says: bytes.NewReader(says)}, cancel: func() {}, most: protocol.MaxStackRequests}
	return &runTime{decorator: &Decorator{plugin: p}, arch: x.subject.Arch(), modules: x.subject.Modules(), session: s}, p.cancel
}

func toyFrame() *protocol.LanguageFrame { return &protocol.LanguageFrame{Function: "f"} }

// many returns n frames in one group.
func many(n int, f *protocol.LanguageFrame) *protocol.Decoration {
	g := &protocol.Group{Address: 16}
	for range n {
		g.Frames = append(g.Frames, f)
	}
	return &protocol.Decoration{Groups: []*protocol.Group{g}}
}

// TestDecorationNonsense: what cannot be right puts the plug-in out of use, and the error says what
// that is. Bounds are docs/plugin-protocol.md's.
func TestDecorationNonsense(t *testing.T) {
	x := newScripted(t)
	far := uint32(len(x.stack.Frames))
	more := many(1, toyFrame())
	more.More = true
	large := many(512, &protocol.LanguageFrame{Function: strings.Repeat("f", 2000), File: strings.Repeat("g", 2000)})
	large.More = true
	full := many(1<<14, toyFrame())
	full.More = true
	repeated := func(m *protocol.Decoration, n int) (list []any) {
		for range n {
			list = append(list, m)
		}
		return list
	}
	reads := make([]any, protocol.MaxStackRequests+1)
	for i := range reads {
		reads[i] = &protocol.Read{}
	}
	for _, c := range []struct {
		name, says string
		script     []any
	}{
		{"answer", "Answer where a decoration was wanted", []any{&protocol.Answer{Declines: "?"}}},
		{"ready", "Ready where a decoration was wanted", []any{&protocol.Ready{}}},
		{"number", "stack 7, where 1", []any{&protocol.Decoration{Number: 7}}},
		{"next", "GoOn where a decoration was wanted", []any{&protocol.Continue{}}}, // the stack has one page
		{"next after a page", "GoOn where a decoration was wanted", []any{more, &protocol.Continue{}}},
		{"no frames", "without frames", []any{&protocol.Decoration{Groups: []*protocol.Group{{Address: 16}}}}},
		{"no function", "without the name", []any{many(1, &protocol.LanguageFrame{})}},
		{"level", "physical frame", []any{&protocol.Decoration{Groups: []*protocol.Group{{Level: far, Frames: []*protocol.LanguageFrame{toyFrame()}}}}}},
		{"own", "physical frame", []any{&protocol.Decoration{Own: []uint32{far}}}},
		{"names", "physical frame", []any{&protocol.Decoration{Names: []*protocol.LevelName{{Level: 1<<32 - 1}}}}},
		{"variables", "at most 256", []any{many(1, &protocol.LanguageFrame{Function: "f", Args: make([]*protocol.Variable, 257)})}},
		{"locks", "at most 64", []any{&protocol.Decoration{Thread: &protocol.LanguageThread{Holds: make([]*protocol.Lock, 65)}}}},
		{"frames", "more than 65536 frames", repeated(full, 5)},
		{"bytes", "texts of more than 16777216 bytes", repeated(large, 9)},
		{"pages", "more than 1024 pages", repeated(more, 1026)},
		{"own often", "at most 65536", []any{&protocol.Decoration{Own: make([]uint32, 65537)}}},
		{"requests", "more than 4096 requests", reads},
		{"memory", "at most 65536 bytes", []any{&protocol.Read{Ranges: []*protocol.Range{{Lo: 0, Hi: 1 << 40}}}}},
	} {
		d, err := x.decorate(lines(t, c.script...))
		if d != nil || !errors.Is(err, ErrNonsense) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v: want %q", c.name, d, err, c.says)
		}
	}
}

// TestDecorationText: what a decorator says does nothing to a terminal.
func TestDecorationText(t *testing.T) {
	const odd = "\x1b]0;owned\a\u009b31m\u202e"
	m := many(1, &protocol.LanguageFrame{Function: odd, File: odd, Line: 1<<32 - 1, Args: []*protocol.Variable{{Name: odd, Value: odd}, nil}})
	m.Thread = &protocol.LanguageThread{Name: odd, State: odd, Waits: []*protocol.Lock{{Kind: odd, Owner: -5, Frame: 1<<32 - 1}, nil}}
	m.Early, m.Names = odd, []*protocol.LevelName{{Level: 0, Name: odd}, nil}
	d, err := newScripted(t).decorate(lines(t, m))
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	shown(t, d)
}

// shown checks the texts of a decorated stack.
func shown(t *testing.T, d *language.Decorated) {
	t.Helper()
	texts := d.Warnings
	for _, p := range d.At {
		texts = append(texts, p.Name)
		for _, f := range p.Frames {
			texts = append(texts, f.Function, f.File, f.Kind)
			for _, v := range append(f.Args, f.Locals...) {
				texts = append(texts, v.Name, v.Type, v.Value)
			}
			if f.Line < 0 || f.Function == "" {
				t.Fatalf("%q, line %d", f.Function, f.Line)
			}
		}
	}
	for _, x := range d.Threads {
		texts = append(texts, x.Name, x.State, x.Exception)
		for _, l := range append(x.Waits, x.Holds...) {
			if texts = append(texts, l.Kind, l.Name); l.Owner < 0 || l.Level < -1 {
				t.Fatalf("%+v", l)
			}
		}
	}
	for _, text := range texts {
		for _, r := range text {
			if !unicode.IsPrint(r) {
				t.Fatalf("a terminal would obey %q", text)
			}
		}
	}
}

// FuzzDecoration: whatever a decorator says, a stack has frames with names, texts that do nothing
// to a terminal, or a plug-in that is out of use.
func FuzzDecoration(f *testing.F) {
	x := newScripted(f)
	all := many(2, &protocol.LanguageFrame{Function: "f", File: "g", Line: 3, Kind: "k", Place: 4, Args: []*protocol.Variable{{Name: "a", Value: "1"}}})
	all.Own, all.Names, all.Early, all.Fails = []uint32{0, 1}, []*protocol.LevelName{{Level: 1, Name: "eval"}}, "early", "fails"
	all.Thread = &protocol.LanguageThread{Name: "t", State: "s", Waits: []*protocol.Lock{{Kind: "lock", Address: 16, Owner: 1, Frame: 1, Timed: true}}}
	more := many(1, toyFrame())
	more.More = true
	f.Add(lines(f, &protocol.Read{Ranges: []*protocol.Range{{Lo: 0x400000, Hi: 0x400100}}}, all))
	f.Add(lines(f, more, &protocol.List{}, more, &protocol.Decoration{Own: []uint32{1}}))
	f.Add(lines(f, &protocol.Continue{}))
	f.Fuzz(func(t *testing.T, says []byte) {
		bounds.Hold(t, 4<<20+256*len(says), func() {
			d, err := x.decorate(says)
			if err != nil && !errors.Is(err, ErrNonsense) {
				t.Fatal(err)
			}
			if d != nil {
				shown(t, d)
			}
		})
	})
}
