package show

import (
	"fmt"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/count"
)

// waiting prints for what a thread waits.
func (p *textPrinter) waiting(e *waits.Entry) {
	if e.Known() {
		p.Text("  ")
		p.Text(e.String())
		p.Byte('\n')
	}
}

// waitingAll prints for what the members of a group wait.
func (p *textPrinter) waitingAll(d *report.Document, g *group, members int) {
	noun := "thread"
	switch {
	case d.Rounds > 1:
		noun = "sample"
	case g.first.Goroutine != nil:
		noun = "goroutine"
	}
	for _, line := range g.waits.Lines(noun, members == 1) {
		p.Text("  " + line)
		p.Byte('\n')
	}
}

// maxDeadlocks bounds the deadlocks in text, and the threads of each.
const maxDeadlocks = 32

// deadlocks prints which threads wait for each other.
func (p *textPrinter) deadlocks(d *report.Document) {
	if d.Waits == nil {
		return
	}
	for i, x := range d.Waits.Deadlocks {
		p.MakeRoom()
		if i == 0 {
			p.Byte('\n')
		}
		if i == maxDeadlocks {
			p.Text("and " + count.Of(len(d.Waits.Deadlocks)-i, "deadlock") + " more\n")
			return
		}
		p.styled(red, "deadlock")
		if x.Timed {
			p.Text(", until the time of one is over")
		}
		p.Text(": ")
		for j, tid := range x.Threads {
			switch {
			case j == maxDeadlocks:
				p.Text(fmt.Sprintf(", and so on: %d threads", len(x.Threads)))
			case j > maxDeadlocks:
				continue
			case j == 0:
				p.Text(fmt.Sprintf("thread %d waits for %s", tid, x.Link(j)))
			default:
				p.Text(fmt.Sprintf(", which waits for %s", x.Link(j)))
			}
			if len(x.Threads) == 1 {
				p.Text(" itself")
			}
		}
		p.Byte('\n')
	}
}
