package report

import (
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// waiting prints for what a thread waits.
func (p *textPrinter) waiting(e *waits.Entry) {
	if e.Known() {
		p.Text("  ")
		p.Text(e.String())
		p.Byte('\n')
	}
}

// maxDeadlocks bounds the deadlocks in text, and the threads of each.
const maxDeadlocks = 32

// deadlocks prints which threads wait for each other.
func (p *textPrinter) deadlocks(d *Document) {
	if d.waits == nil {
		return
	}
	for i, x := range d.waits.Deadlocks {
		p.MakeRoom()
		if i == 0 {
			p.Byte('\n')
		}
		if i == maxDeadlocks {
			p.Text(fmt.Sprintf("and %d deadlocks more\n", len(d.waits.Deadlocks)-i))
			return
		}
		p.styled(red, "deadlock")
		if x.Timed {
			p.Text(", until the time of one is over")
		}
		p.Text(": ")
		for j, tid := range x.Threads {
			e := d.waits.Of(tid)
			switch {
			case j == maxDeadlocks:
				p.Text(fmt.Sprintf(", and so on: %d threads", len(x.Threads)))
			case j > maxDeadlocks:
				continue
			case j == 0:
				p.Text(fmt.Sprintf("thread %d waits for %s", tid, e.Link()))
			default:
				p.Text(fmt.Sprintf(", which waits for %s", e.Link()))
			}
			if len(x.Threads) == 1 {
				p.Text(" itself")
			}
		}
		p.Byte('\n')
	}
}

// waits finds out which thread waits for which. It is empty if the threads are not of one moment,
// or if threads of other moments, or processes, are added.
func (s *walk) waits() *waits.Graph {
	if !OneMoment(s.Source) || len(s.walkers) == 0 || s.flags.Many.IsLater() {
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
