package rust

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
)

// polls notes which task of tokio's a thread runs: the frame of the function that polls it has the
// task's address, in a register or on the stack. Of tasks of spawn_blocking that run nothing else
// tells.
func (t *tasks) polls(th target.Thread, f *frame.Frame) {
	poll := t.entryOf(f, pollName)
	number, numbered := t.currents[th.ID()]
	at := t.polled(f, func(at uint64) bool { return t.runsAt(at, poll, number, numbered) })
	if at == 0 {
		return
	}
	t.add(at)
	t.runsOn(at, th)
}

// runsAsync does the same for a task of async-task.
func (t *tasks) runsAsync(th target.Thread, f *frame.Frame) {
	l, run := t.async.task, t.entryOf(f, runName)
	if run == 0 {
		return
	}
	at := t.polled(f, func(at uint64) bool {
		word, table := t.Uint(at+l.state, 8), t.Pointer(at+l.table)
		entry := t.Pointer(table + l.run)
		return t.Err() == nil && word&asyncRunning != 0 && entry == run
	})
	if at == 0 {
		return
	}
	t.addAsync(at)
	t.runsOn(at, th)
}

func (t *tasks) runsOn(at uint64, th target.Thread) {
	if i, ok := t.known[at]; ok && t.list[i].State == "running" {
		t.list[i].Thread = th.ID()
	}
}

// entryOf returns where the function of a frame begins; 0 if it is not of the name, but inlined
// into another.
func (t *tasks) entryOf(f *frame.Frame, name string) uint64 {
	entry, ok := f.Function()
	if !ok || plain(t.codeAt(entry).name) != name {
		return 0
	}
	return entry
}

// polled finds the task whose address a frame has; 0 if there is none, or there are several. is
// says whether there may be one at an address. The function needs the address when the future
// returns: so it has it in a register that is preserved, or on the stack. Old words on the stack
// may lead to other tasks.
func (t *tasks) polled(f *frame.Frame, is func(at uint64) bool) (one uint64) {
	sp := f.Register(t.arch.SP)
	cfa, ok := f.CFA()
	if !ok || !sp.Known() || cfa < sp.Bits || cfa-sp.Bits > mostFrame {
		return 0
	}
	several := false
	look := func(at uint64) {
		if err := t.Err(); err != nil || at == one || at%8 != 0 || !t.step() || !is(at) {
			return
		}
		several = several || one != 0
		one = at
	}
	for _, reg := range append(slices.Clone(t.arch.OtherCalleeSaved), t.arch.FP) {
		if v := f.Register(reg); v.Known() {
			look(v.Bits)
		}
	}
	if one == 0 {
		for at := sp.Bits &^ 7; at < cfa; at += 8 {
			look(t.Pointer(at))
		}
	}
	t.Err()
	if several {
		return 0
	}
	return one
}

// runsAt reports whether there is a task of tokio's at an address that runs. poll is the function
// that polls it, 0 for any; number is its number if numbered is true.
func (t *tasks) runsAt(at, poll, number uint64, numbered bool) bool {
	if t.header == nil {
		if c, ok := t.cellOf(poll); ok {
			t.header = c.header
		}
	}
	if t.header == nil {
		return false
	}
	l := t.layoutOf(t.header)
	if l == nil {
		return false
	}
	word, table := t.Uint(at+l.state, 8), t.Pointer(at+l.table)
	entry := t.Pointer(table + l.poll)
	if t.Err() != nil || word&taskRunning == 0 || poll != 0 && entry != poll {
		return false
	}
	c, ok := t.cellOf(entry)
	if !ok {
		return false
	}
	is, ok := t.numberOf(at, table, l, c)
	return t.Err() == nil && (!numbered || !ok || is == number)
}
