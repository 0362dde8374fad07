package guard

import (
	"os"
)

// born is called when a thread has made another one.
func (g *guard) born(tid int) {
	t := &tracee{tid: tid, state: running, pass: pass{ran: g.runs}}
	g.threads[tid] = t
	if ws, ok := g.early[tid]; ok {
		delete(g.early, tid)
		g.stop(t, ws)
	}
}

// hasMemory reports whether a new thread or process has the memory of the process that is held.
func (g *guard) hasMemory(tid int) bool {
	_, err := os.Stat(taskFile(g.pid, tid, ""))
	return err == nil || SameMemory(g.pid, tid)
}

// forked is called when a thread has made a process. That is let go, without breakpoints in its
// memory.
func (g *guard) forked(child int) {
	g.awaitChild(child)
	if !SameMemory(g.pid, child) {
		g.cleanse(child)
	}
	ptrace(ptraceDetach, child, 0, 0)
}

// lend is called when a thread has made a process that has its memory until it runs another program
// or ends (vfork(2)). Until then no breakpoint is there.
func (g *guard) lend(child int) {
	g.awaitChild(child)
	if g.lifted++; g.lifted == 1 {
		g.show(false)
	}
	ptrace(ptraceDetach, child, 0, 0)
}

// takeBack is called when such a process has the memory no longer.
func (g *guard) takeBack() {
	if g.lifted--; g.lifted == 0 && !g.letting {
		g.show(true)
	}
}

// awaitChild waits until a new process has stopped, as it does before its first instruction.
func (g *guard) awaitChild(child int) {
	g.await(func() bool { _, ok := g.early[child]; return !ok && !g.ended }, g.timeout)
	delete(g.early, child)
}
