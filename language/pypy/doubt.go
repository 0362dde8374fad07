package pypy

import "github.com/sfwalk/sfwalk/internal/pypy"

// Compiled code does not write at which instruction a function is, unless it calls what may ask for
// that. A function that has entered compiled code has the instruction at which it did, and one
// inlined in it the one of some guard before. When a guard fails, PyPy leaves the code, takes its
// record away, makes the frames and records of the functions that were inlined, and only then
// writes into the frame of the function that had entered the code where it is. What it does from
// then on, it writes at once. So what is further out than another function of the interpreter, or
// than another frame of compiled code, is right.

// doubt marks the elements whose frames may have an older instruction.
func (p *placer) doubt(elements []element) {
	if len(elements) == 0 {
		return
	}
	level, n := p.levels[elements[0].record], 1
	for n < len(elements) && p.levels[elements[n].record] == level {
		n++
	}
	outer := &elements[n-1]
	if p.records[outer.record].kind == pypy.Jitted {
		for i := range elements[:n] {
			elements[i].doubt = elements[i].inside
		}
		return
	}
	outer.doubt = n > 1 || len(outer.extra) > 0 || p.left(level)
}

// learn remembers which function of PyPy's has entered compiled code, whose frame has a level.
func (p *placer) learn(level int) {
	if p.m.enter.Load() != 0 || level+1 >= len(p.stack.Frames) || p.stack.Frames[level].Sniffer() != sniffer {
		return
	}
	if f := p.stack.Frames[level+1]; p.m.isOwn(f) {
		start, _ := f.Function()
		p.m.enter.Store(start)
	}
}

// left reports whether inward of a level PyPy is in the function that enters compiled code, which
// was left: no record of such code is there.
func (p *placer) left(level int) bool {
	enter := p.m.enter.Load()
	for ; enter != 0 && level >= 0 && p.m.spend(1); level-- {
		f := p.stack.Frames[level]
		if start, ok := f.Function(); ok && start == enter && p.m.isOwn(f) {
			return true
		}
	}
	return false
}

// sniffer is the name of the sniffer that knows frames of compiled code.
const sniffer = "pypy"
