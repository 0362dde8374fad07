package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// searcher unwinds every frame, alone, by looking at much code.
type searcher struct {
	looks int
	asked int // how often it has looked
}

func (s *searcher) Name() string { return "searcher" }

func (s *searcher) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.This == nil {
		return trad.Row{}, frame.NeedsFrame
	}
	if !q.Search() {
		return trad.Row{}, "too much was looked at"
	}
	s.asked++
	q.Searched(s.looks)
	row := spRow(16)
	row.Lo, row.Len, row.Flags = q.PC, 1, trad.Once
	return row, frame.Claimed
}

// What is looked at for one stack has a bound, for both walkers the same one; the stack ends
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
	}{{0, frame.DefaultSearch/10 + 1, 11}, {1000, 300, 5}, {1000, 1000, 2}, {-1, 1, 1}} {
		list := &searcher{looks: tt.looks}
		table := frame.NewTable(amd64.Arch, list)
		f := newFake(0x1010, stackBase, 0, words...)
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		s.Search = tt.search
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
			t.Errorf("%+v: %d bytes, want %d", tt, s.Searched(), want)
		}
		if tt.search == 0 {
			if err := walktest.New(f.mods, table).Check(f, f); err != nil {
				t.Error(err)
			}
		}
	}
}
