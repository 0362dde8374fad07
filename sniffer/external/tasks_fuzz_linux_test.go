package external

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

func toyTask(id uint64, frames ...*protocol.LanguageFrame) *protocol.Task {
	return &protocol.Task{Id: id, Kind: "toy task", Frames: frames}
}

// TestTasksNonsense: what cannot be right puts the plug-in out of use, and the error says what that
// is. Bounds are docs/plugin-protocol.md's.
func TestTasksNonsense(t *testing.T) {
	x := newScripted(t)
	list := func(more bool, tasks ...*protocol.Task) *protocol.Tasks {
		return &protocol.Tasks{More: more, Tasks: tasks}
	}
	many := func(n int, of func(i int) *protocol.Task) *protocol.Tasks {
		m := list(true)
		for i := range n {
			m.Tasks = append(m.Tasks, of(i))
		}
		return m
	}
	empty, large := toyFrame(), &protocol.LanguageFrame{Function: strings.Repeat("f", 4000), File: strings.Repeat("g", 4000)}
	deep := toyTask(1, slices.Repeat([]*protocol.LanguageFrame{empty}, 1<<14)...)
	n := uint64(0)
	numbered := func(int) *protocol.Task { n++; return toyTask(n) }
	var pages, full, frames, texts []any
	for range 1026 {
		pages = append(pages, list(true))
	}
	for range 5 {
		full = append(full, many(1<<14, numbered))
	}
	for range 17 {
		frames = append(frames, list(true, deep))
	}
	for range 9 {
		texts = append(texts, many(256, func(i int) *protocol.Task { return toyTask(uint64(i+1), large) }))
	}
	reads := make([]any, protocol.MaxStackRequests+1)
	for i := range reads {
		reads[i] = &protocol.Read{}
	}
	for _, c := range []struct {
		name, says string
		script     []any
	}{
		{"decoration", "Decoration where tasks were wanted", []any{&protocol.Decoration{}}},
		{"next", "GoOn where tasks were wanted", []any{list(true), &protocol.Continue{}}},
		{"number", "request 7, where the request was 1", []any{&protocol.Tasks{Number: 7}}},
		{"kind", "of no kind", []any{list(false, &protocol.Task{Id: 1})}},
		{"ID", "without an ID", []any{list(false, &protocol.Task{Kind: "x"})}},
		{"function", "without the name", []any{list(false, toyTask(1, &protocol.LanguageFrame{}))}},
		{"awaited", "at most 64", []any{list(false, &protocol.Task{Id: 1, Kind: "x", AwaitedBy: make([]uint64, 65)})}},
		{"locks", "at most 64", []any{list(false, &protocol.Task{Id: 1, Kind: "x", Waits: make([]*protocol.Lock, 65)})}},
		{"tasks", "more than 65536 tasks", full},
		{"frames", "more than 262144 frames", frames},
		{"texts", "texts of more than 16777216 bytes", texts},
		{"pages", "more than 1024 pages", pages},
		{"requests", "more than 4096 requests", reads},
	} {
		got, fails, fault := x.tasks(lines(t, c.script...))
		if got != nil || fails != nil || !errors.Is(fault, ErrNonsense) || !strings.Contains(fault.Error(), c.says) {
			t.Errorf("%s: %d tasks, %v, %v: want %q", c.name, len(got), fails, fault, c.says)
		}
	}
	// What has failed is no nonsense.
	got, fails, fault := x.tasks(lines(t, list(true, toyTask(1, empty)), &protocol.Tasks{Tasks: []*protocol.Task{toyTask(1, empty), toyTask(2)}, Fails: "a task is broken"}))
	if fault != nil || fails == nil || fails.Error() != "a task is broken" || len(got) != 2 || len(got[0].Frames) != 2 {
		t.Errorf("%+v, %v, %v", got, fails, fault)
	}
}

// FuzzTasks: whatever a decorator says, tasks have kinds and IDs, their frames have names, and
// texts do nothing to a terminal; or the plug-in is out of use.
func FuzzTasks(f *testing.F) {
	x := newScripted(f)
	all := &protocol.Task{
		Id: 1, Number: 2, Name: "a\x1b", Kind: "k", State: "s", Thread: -3, Frames: []*protocol.LanguageFrame{{Function: "f", File: "g", Line: 3, Guess: true}},
		AwaitedBy: []uint64{2}, Waits: []*protocol.Lock{{Kind: "lock", Timed: true}, nil}, Early: "early",
	}
	f.Add(lines(f, &protocol.Tasks{More: true, Tasks: []*protocol.Task{all}}, &protocol.Tasks{Tasks: []*protocol.Task{all, toyTask(2)}, Fails: "fails"}))
	f.Add(lines(f, &protocol.Read{Ranges: []*protocol.Range{{Lo: 0x400000, Hi: 0x400100}}}, &protocol.Tasks{Tasks: []*protocol.Task{nil}}))
	f.Fuzz(func(t *testing.T, says []byte) {
		bounds.Hold(t, 4<<20+256*len(says), func() {
			list, _, err := x.tasks(says)
			if err != nil && !errors.Is(err, ErrNonsense) {
				t.Fatal(err)
			}
			for i := range list {
				sane(t, &list[i])
			}
		})
	})
}

// sane checks one task.
func sane(t *testing.T, x *language.Task) {
	t.Helper()
	texts := []string{x.Name, x.Kind, x.State, x.Early}
	for _, f := range x.Frames {
		texts = append(texts, f.Function, f.File, f.Kind)
		if f.Line < 0 || f.Function == "" || f.Args != nil || f.Locals != nil {
			t.Fatalf("%+v", f)
		}
	}
	for _, l := range x.Waits {
		texts = append(texts, l.Kind, l.Name)
	}
	if x.ID == 0 || x.Kind == "" || x.Thread < 0 {
		t.Fatalf("%+v", x)
	}
	for _, text := range texts {
		for _, r := range text {
			if !unicode.IsPrint(r) {
				t.Fatalf("a terminal would obey %q", text)
			}
		}
	}
}
