package guard

import (
	"time"
)

// putBack puts everything back, and lets all threads go.
func (g *guard) putBack() {
	if g.letting {
		return
	}
	g.letting = true
	g.stopAll()
	if g.lifted == 0 {
		g.show(false)
	}
	for child := range g.early { // its parent was killed before it told of it
		g.cleanse(child)
		ptrace(ptraceDetach, child, 0, 0)
	}
	for _, t := range g.threads {
		if t.state == stopped {
			t.letGo(g)
			delete(g.threads, t.tid)
		}
	}
}

// pauseLate is the time between two looks at threads that cannot be stopped.
const pauseLate = time.Millisecond

// putBackLate waits for threads that could not be stopped, and whose state must be put back: they
// are blocked in the kernel, maybe in the call of a function that waits for another process.
func (g *guard) putBackLate() {
	for len(g.threads) > 0 {
		some := false
		for _, t := range g.threads {
			if t.state == stopped {
				t.letGo(g)
				delete(g.threads, t.tid)
			}
			some = some || len(t.saved) > 0
		}
		if !some {
			return
		}
		time.Sleep(pauseLate)
		g.stopAll()
	}
}

// letGo puts a thread back, and detaches from it. What it is owed is delivered.
func (t *tracee) letGo(g *guard) {
	if len(t.saved) > 0 {
		for i := range t.saved[1:] {
			t.owe(t.saved[1+i].signal)
		}
		t.put(g, &t.saved[0])
		t.saved = nil
	}
	if signal, ok := t.deliver(g, true); ok {
		ptrace(ptraceDetach, t.tid, 0, uintptr(signal))
	}
}
