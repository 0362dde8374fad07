package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// A message of a plug-in has 2 MiB at most: docs/plugin-protocol.md.
const maxMessage = 2 << 20

// TestPages: a large decoration is sent in pages that gRPC takes, and together they have all of it.
func TestPages(t *testing.T) {
	s := &Stack{Frames: []StackFrame{{PC: 0x1000, CFA: 0x7000}, {PC: 0x2000, CFA: 0x8000}}}
	const frames = 10_000
	d := &Decoration{Own: []int{1, 7, -1}, Names: map[int]string{0: "eval", 2: "none"}, Early: "enough"}
	d.Groups = []Group{{Anchor: Anchor{Level: 1}}, {Anchor: Anchor{Address: 0x7100, Beside: true}}}
	for i := range frames {
		f := LanguageFrame{Function: fmt.Sprint("f", i), File: strings.Repeat("x", i%5000), Line: i, Args: make([]Variable, 300*(i%2))}
		d.Groups[i*2/frames].Frames = append(d.Groups[i*2/frames].Frames, f)
	}
	d.Thread = ThreadFacts{State: "bad \xff text", Waits: append([]Lock{{Kind: "lock", Timed: true}}, make([]Lock, 100)...)}
	pages := d.pages(s, 7)
	var functions []string
	var places []uint64
	for i, page := range pages {
		if size := proto.Size(page); size > maxMessage {
			t.Errorf("page %d has %d bytes", i, size)
		}
		if page.Number != 7 || page.More != (i < len(pages)-1) {
			t.Errorf("page %d of %d: number %d, more %v", i, len(pages), page.Number, page.More)
		}
		for _, g := range page.Groups {
			if len(g.Frames) == 0 {
				t.Errorf("page %d has a group without frames", i)
			}
			if at := g.Address + g.Pc; !slices.Contains(places, at) {
				places = append(places, at)
			}
			for _, f := range g.Frames {
				functions = append(functions, f.Function)
				if len(f.File) > protocol.MaxText || len(f.Args) > protocol.MaxVariables {
					t.Errorf("%s: %d bytes of a file's name, %d arguments", f.Function, len(f.File), len(f.Args))
				}
			}
		}
	}
	last := pages[len(pages)-1]
	if len(functions) != frames || functions[frames-1] != "f9999" || !slices.Equal(places, []uint64{0x2000, 0x7100}) {
		t.Errorf("%d frames, the last is %s; places %#x", len(functions), functions[len(functions)-1], places)
	}
	if !slices.Equal(last.Own, []uint32{1}) || len(last.Names) != 1 || last.Early != "enough" || len(last.Thread.Waits) != protocol.MaxLocks ||
		last.Thread.State != "bad \ufffd text" || !last.Thread.Waits[0].Timed || last.Thread.Waits[1].Timed {
		t.Errorf("the last page is %v", last)
	}
	if empty := (*Decoration)(nil).pages(s, 8); len(empty) != 1 || !proto.Equal(empty[0], &protocol.Decoration{Number: 8}) {
		t.Errorf("of nothing: %v", empty)
	}
}

// memory is a host that reads [lo, lo+len(data)), and counts the requests.
type memory struct {
	lo       uint64
	data     []byte
	requests int
}

func (m *memory) ask(q *protocol.FromPlugin) (*protocol.FromHost, error) {
	m.requests++
	to := &protocol.Memory{}
	for _, r := range q.GetRead().GetRanges() {
		b := &protocol.Block{Address: r.Lo}
		if r.Lo >= m.lo && r.Lo < m.lo+uint64(len(m.data)) {
			b.Data = m.data[r.Lo-m.lo:]
			b.Data = b.Data[:min(uint64(len(b.Data)), r.Hi-r.Lo)]
		}
		to.Blocks = append(to.Blocks, b)
	}
	return &protocol.FromHost{Message: &protocol.FromHost_Memory{Memory: to}}, nil
}

func newStack(m *memory) *Stack {
	return &Stack{Target: &Target{Order: binary.LittleEndian, PtrSize: 8, ask: m.ask}}
}

// TestStackMemory: pages are asked for once, also ones of which only a part can be read.
func TestStackMemory(t *testing.T) {
	m := &memory{lo: 0x10f00, data: make([]byte, 0x300)} // from the middle of one page into the next
	for i := range m.data {
		m.data[i] = byte(i + 1)
	}
	copy(m.data[0x200:], "a name\x00")
	s := newStack(m)
	for range 3 {
		if v, err := s.Uint(0x11000, 4); v != 0x04030201 || err != nil {
			t.Errorf("%#x, %v", v, err)
		}
		if text, err := s.Text(0x11100, 100); text != "a name" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	if m.requests != 1 {
		t.Errorf("%d requests for one page", m.requests)
	}
	// The beginning of the first page cannot be read.
	if v, err := s.Word(0x10f00); v != 0x0807060504030201 || err != nil {
		t.Errorf("%#x, %v", v, err)
	}
	for _, at := range []uint64{0x10efc, 0x111fc, 0, ^uint64(0) - 3} {
		if _, err := s.Word(at); !errors.Is(err, ErrUnmapped) {
			t.Errorf("%#x: %v", at, err)
		}
	}
	if text, err := s.Text(0x11100, 3); text != "a n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLevelAt: an address belongs to the frame whose part of the stack has it.
func TestLevelAt(t *testing.T) {
	s := &Stack{Frames: []StackFrame{{SP: 0x100, CFA: 0x120}, {}, {SP: 0x120, CFA: 0x200}}}
	for at, want := range map[uint64]int{0xff: -1, 0x100: 0, 0x11f: 0, 0x120: 2, 0x1ff: 2, 0x200: -1, 0: -1} {
		if level, ok := s.LevelAt(at); ok != (want >= 0) || ok && level != want {
			t.Errorf("%#x: level %d, %v; want %d", at, level, ok, want)
		}
	}
}

// FuzzStackMemory: whatever can be read, a read gives bytes of the process or an error.
func FuzzStackMemory(f *testing.F) {
	f.Add([]byte("abc\x00def"), uint64(0x1ffe), uint64(0x2000), 5)
	f.Add(make([]byte, 5000), uint64(0xfff), uint64(0xfff), 4096)
	f.Fuzz(func(t *testing.T, data []byte, lo, at uint64, size int) {
		if size < 0 || size > 1<<16 || lo+uint64(len(data)) < lo {
			return
		}
		bounds.Hold(t, 1<<20+8*size+16*len(data), func() {
			s := newStack(&memory{lo: lo, data: data})
			p := make([]byte, size)
			n, err := s.ReadMemory(at, p)
			if (err == nil) != (n == size) {
				t.Errorf("%d of %d bytes, %v", n, size, err)
			}
			for i, c := range p[:n] {
				if where := at + uint64(i); where < lo || where-lo >= uint64(len(data)) || data[where-lo] != c {
					t.Fatalf("byte %d is not the process's", i)
				}
			}
			if text, _ := s.Text(at, size); len(text) > size {
				t.Errorf("a text of %d bytes, at most %d", len(text), size)
			}
		})
	})
}
