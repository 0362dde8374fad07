package report

import (
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
)

// goroutineSource is a Source whose goroutines are walked in place of its threads.
type goroutineSource struct {
	Source
	list *goroutines.List
}

// WithGoroutines returns s with its goroutines in place of its threads. If saved is set, s is saved
// to a file: all that is shown of it has to be there.
func WithGoroutines(s Source, saved bool) (Source, error) {
	if _, ok := s.(*goroutineSource); ok {
		return s, nil
	}
	list, err := goroutines.Of(s, OneMoment(s), saved)
	if err != nil {
		return nil, err
	}
	return &goroutineSource{s, list}, nil
}

// After implements [Finisher], for a Source that does.
func (s *goroutineSource) After(doc *Document) { finish(s.Source, doc) }

// Warnings implements [Source].
func (s *goroutineSource) Warnings() []string {
	return append(s.Source.Warnings(), s.list.Warnings()...)
}

// asleepIn returns what is known of the goroutines' waits; nil if one can go on, or nothing is
// known.
func asleepIn(s Source) *goroutines.Asleep {
	if g, ok := s.(*goroutineSource); ok {
		return g.list.Asleep
	}
	return nil
}

// markGoroutine fills in fields of a thread that stands for a goroutine.
func markGoroutine(s Source, of *goroutines.Thread, th *Thread) {
	if th.Goroutine == nil {
		th.Goroutine = new(goroutines.Entry)
	}
	*th.Goroutine = of.Entry()
	if inner, ok := s.(*goroutineSource); ok && of.RunBy != nil {
		if m, ok := inner.Source.(Marker); ok {
			var by Thread
			m.Mark(of.RunBy, &by)
			th.Died, th.Goroutine.Died = by.Died, by.Died
		}
	}
	th.created, th.creator = of.Goroutine.Created, of.Goroutine.Creator
	if th.Error == goroutines.ErrNoRegisters.Error() {
		th.Whole, th.Detail = true, ""
	}
}
