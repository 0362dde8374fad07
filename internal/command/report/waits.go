package report

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// waits finds out which thread waits for which. It is empty if the threads are not of one moment,
// or if threads of other moments, or processes, are added.
func (s *walk) waits() *waits.Graph {
	if !OneMoment(s.Source) || len(s.walkers) == 0 || s.flags.Sum.Later {
		return &waits.Graph{}
	}
	w := s.walkers[0]
	opts := waits.Options{Symbols: s.symbols, Stack: func(th target.Thread) *frame.Stack {
		if w.start(th) != nil {
			return nil
		}
		return w.stack
	}}
	if inside, ok := s.Source.(Container); ok {
		opts.OwnThreads = inside.OwnThreads
	}
	if !s.flags.NoLines {
		opts.Variables = func() *symbol.Symbolizer { return ownSymbolizer(s.Source, s.flags, true) }
	}
	return waits.Find(s.Source, opts)
}
