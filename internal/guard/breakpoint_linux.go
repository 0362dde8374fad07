package guard

import (
	"errors"
	"slices"
	"strconv"
	"time"
)

// breakpoint is one address where code was replaced.
type breakpoint struct {
	original []byte
	code     []byte // what is there instead
	count    int    // how often it was set
	set      int    // guard.runs when it was set first
}

// pass says at which breakpoints a thread does not stop that stands there already.
type pass struct {
	ran int // guard.runs when the thread ran last: it does not stop at breakpoints that were set since
	// may says that it stops at none: the owner knows that it is there, or has put it there. A
	// thread that another one's event has stopped on its way, or a signal, may not pass.
	may bool
}

// passes reports whether the thread executes the instruction at which a breakpoint is and it
// stands.
func (t *tracee) passes(b *breakpoint) bool {
	if t.signal != nil && t.delivery && isFault(t.signal) {
		return false // the instruction has failed already, and the signal's handler comes first
	}
	return t.pass.may || b.set >= t.pass.ran
}

// insert puts a breakpoint at addr, and returns the code that was there.
func (g *guard) insert(addr uint64) ([]byte, error) {
	if b := g.breakpoints[addr]; b != nil {
		b.count++
		return b.original, nil
	}
	b := &breakpoint{code: g.arch.Breakpoint, count: 1, set: g.runs}
	b.original = make([]byte, len(b.code))
	if _, err := g.mem.ReadAt(b.original, int64(addr)); err != nil {
		return nil, errors.New("no code can be read at " + hex(addr))
	}
	g.breakpoints[addr] = b // before it is there: putBack must know
	if g.lifted == 0 {
		if _, err := g.mem.WriteAt(b.code, int64(addr)); err != nil {
			delete(g.breakpoints, addr)
			return nil, errors.New("no breakpoint can be written at " + hex(addr) + ": " + err.Error())
		}
	}
	return b.original, nil
}

func hex(addr uint64) string { return "0x" + strconv.FormatUint(addr, 16) }

func (g *guard) remove(addr uint64) error {
	b := g.breakpoints[addr]
	if b == nil {
		return errors.New("no breakpoint is at " + hex(addr))
	}
	if b.count--; b.count > 0 {
		return nil
	}
	if g.lifted == 0 {
		if _, err := g.mem.WriteAt(b.original, int64(addr)); err != nil && !g.ended {
			b.count++
			return errors.New("the code at " + hex(addr) + " cannot be put back: " + err.Error())
		}
	}
	delete(g.breakpoints, addr)
	// A thread that has come there, and of which the owner was not told, comes there once more: its
	// PC is back already.
	g.events = slices.DeleteFunc(g.events, func(e Event) bool {
		t := g.threads[e.TID]
		if e.Kind != Breakpoint || t == nil || t.hit != addr || !t.atBreakpoint {
			return false
		}
		t.atBreakpoint, t.pass.ran = false, g.runs+1
		return true
	})
	return nil
}

// show puts all breakpoints into the code, or lifts them all.
func (g *guard) show(there bool) {
	for at, b := range g.breakpoints {
		g.mem.WriteAt(b.bytes(there), int64(at))
	}
}

func (b *breakpoint) bytes(there bool) []byte {
	if there {
		return b.code
	}
	return b.original
}

// overlay changes data, which is to be written at addr, so that the breakpoint at address at stays.
func (b *breakpoint) overlay(at, addr uint64, data []byte) {
	for i := range b.code {
		if k := at + uint64(i) - addr; k < uint64(len(data)) {
			b.original[i] = data[k]
			data[k] = b.code[i]
		}
	}
}

// cleanse takes the breakpoints out of the memory of a child that fork(2) has made.
func (g *guard) cleanse(child int) {
	if len(g.breakpoints) == 0 || g.lifted > 0 {
		return
	}
	mem, err := openMem(child, child)
	if err != nil {
		return
	}
	defer mem.Close()
	for at, b := range g.breakpoints {
		mem.WriteAt(b.original, int64(at))
	}
}

// stepOver has a thread execute the instruction at which a breakpoint is, while all others stand
// still. It reports whether the thread has only done so: it may have stopped for another reason.
func (t *tracee) stepOver(g *guard, b *breakpoint, addr uint64) (only bool) {
	if g.lifted == 0 {
		g.mem.WriteAt(b.original, int64(addr))
		defer func() { g.mem.WriteAt(b.code, int64(addr)) }()
	}
	t.over = true
	defer func() { t.over = false }()
	if !t.beginStep(g) {
		return false
	}
	if err := ptrace(ptraceSingleStep, t.tid, 0, 0); err != nil {
		return false
	}
	t.state, t.stepping, t.atBreakpoint, t.pass = running, true, false, pass{ran: g.runs}
	// An instruction that makes a system call may take its time: the thread is behind it when it
	// sleeps. On a busy machine, it may wait for a processor that long, and has not even begun.
	begun := time.Now()
	for !g.await(func() bool { return t.state == running }, stepPatience) {
		if taskState(g.pid, t.tid) != 'R' || time.Since(begun) > g.timeout {
			return false
		}
	}
	if t.state != stopped {
		return false
	}
	if pc, ok := t.pc(g.arch); !t.stepped && ok && pc == addr {
		t.pass.may = true // a signal came first
	}
	return t.stepped
}
