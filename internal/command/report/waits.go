package report

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// waitOf returns for what a thread waits; nil if that is not known. A goroutine waits in a system
// call if its thread does.
func waitOf(s Source, found *waits.Graph, th target.Thread) *waits.Entry {
	inner := s
	if g, ok := th.(*goroutines.Thread); ok {
		of, ok := s.(*goroutineSource)
		if !ok || g.RunBy == nil || g.Goroutine.Status != goroutine.Syscall {
			return nil
		}
		inner, th = of.Source, g.RunBy
	} else if e := found.Of(th.ID()); e != nil {
		return e
	}
	if w, ok := inner.(Waiter); ok {
		return w.Wait(th)
	}
	return nil
}

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
