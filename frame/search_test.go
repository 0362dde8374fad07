package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// searcher unwinds every frame, and reads much code for each.
type searcher struct {
	looks   int
	teaches bool // its rows are true for all frames at the PC
	asked   int  // how often it has searched
}

func (s *searcher) Name() string { return "searcher" }

func (s *searcher) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if !q.MaySearch() {
		return trad.Row{}, "too much was looked at"
	}
	s.asked++
	q.CountSearched(s.looks)
	row := spRow(16)
	row.Lo, row.Len = q.PC, 1
	if !s.teaches {
		row.Flags = trad.Once
	}
	return row, frame.Claimed
}

// The code that is read for one stack has a limit, the same for both walkers. The stack ends
// there and says so.
func TestSearch(t *testing.T) {
	words := make([]uint64, 200)
	for i := range words {
		words[i] = 0x1100 + uint64(i)
	}
	for _, tt := range []struct {
		search int64
		looks  int
		frames int
	}{{0, frame.DefaultSearchLimit/10 + 1, 11}, {1000, 300, 5}, {1000, 1000, 2}, {-1, 1, 1}} {
		list := &searcher{looks: tt.looks}
		table := frame.NewTable(amd64.Arch, list)
		f := newFake(0x1010, stackBase, 0, words...)
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		s.SearchLimit = tt.search
		for range 2 {
			list.asked = 0
			n, end := 0, error(nil)
			for x, err := range s.All() {
				if end = err; x != nil {
					n++
				}
			}
			var stop *frame.StopError
			if !errors.As(end, &stop) || stop.Reason != frame.Unavailable || !strings.Contains(end.Error(), "too much code") || n != tt.frames || list.asked != n-1 {
				t.Errorf("%+v: %d frames, %d searches, then %v", tt, n, list.asked, end)
			}
			if err := s.Reset(f, f); err != nil {
				t.Fatal(err)
			}
		}
		if want := int64(2 * (tt.frames - 1) * tt.looks); s.Searched() != want {
			t.Errorf("%+v: %d instructions, want %d", tt, s.Searched(), want)
		}
		if tt.search == 0 {
			if err := walktest.New(f.mods, table).Check(f, f); err != nil {
				t.Error(err)
			}
		}
	}
}

// Stacks that share searches share the limit and the results: at once, and until the target has
// run.
func TestShare(t *testing.T) {
	const frames = 11
	words := make([]uint64, 2*frames-2)
	for i := range words {
		words[i] = 0x1100 + uint64(i)
	}
	list := &searcher{looks: 10, teaches: true}
	shared := &frame.SharedSearches{}
	shared.Left.Store(1000)
	var tables []*frame.Table
	f := newFake(0x1010, stackBase, 0, words...)
	walk := func(table *frame.Table) (n int, err error) {
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		list.asked = 0
		for x, end := range s.All() {
			if err = end; x != nil {
				n++
			}
		}
		return n, err
	}
	for range 3 {
		table := frame.NewTable(amd64.Arch, list)
		table.ShareSearches(shared)
		tables = append(tables, table)
	}
	for i, want := range []int{frames, 0} {
		if n, _ := walk(tables[i]); n != frames || list.asked != want {
			t.Errorf("table %d: %d frames, %d searches, want %d", i, n, list.asked, want)
		}
	}
	if left, want := shared.Left.Load(), int64(1000-10*frames); left != want {
		t.Errorf("%d instructions are left, want %d", left, want)
	}
	tables[2].Forget()
	shared.Left.Store(35)
	if n, err := walk(tables[2]); n != 5 || list.asked != 4 || err == nil || !strings.Contains(err.Error(), "too much code") {
		t.Errorf("%d frames, %d searches, then %v", n, list.asked, err)
	}
}
