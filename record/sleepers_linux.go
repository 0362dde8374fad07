package record

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target/live"
)

// fixed is what is known of a thread that was stopped once: registers that it has as long as it
// lives.
type fixed struct {
	begun   uint64 // when the thread began: another one may get its ID
	space   *space
	pointer [2]uint64 // by space.arch.ThreadPointer
	lacked  int       // how many times in a row its stack needed other registers
}

// mostLacked is how many times in a row a stack needs more registers before it is tried seldom:
// once in seldom times.
const mostLacked, seldom = 4, 16

// keepFixed keeps the registers of the thread that was just stopped.
func (w *wall) keepFixed(p *space, tid int32, seen live.Seen) {
	f := w.fixed[tid]
	if f == nil || f.begun != seen.Begun || f.space != p {
		f = &fixed{begun: seen.Begun, space: p}
	}
	for i, r := range p.arch.ThreadPointer {
		v, ok := w.regs.Get(r)
		if !ok {
			delete(w.fixed, tid)
			return
		}
		f.pointer[i] = v
	}
	w.fixed[tid] = f
}

// asleep makes w.stack of a thread that sleeps in a system call, without a stop. It returns nil if
// the thread must be stopped: it does not sleep, or its stack is not surely the one that would be
// found then. If the stack is the one of an earlier sample, same is not nil, and w.stack is not
// made.
//
// Of its registers, PC and SP are known. That is enough for most stacks whose rows are known from
// walks before, and for the frames of languages that ask for no other registers.
func (w *wall) asleep(p *space, th *live.Thread, seen live.Seen) (x *live.Sleeper, same *rest) {
	f := w.fixed[int32(th.ID())]
	// In state D, the thread may be in vfork(2), and its child use its stack.
	if f == nil || f.begun != seen.Begun || f.space != p || stateOf(seen.State) != stateSleeping {
		return nil, nil
	}
	if f.lacked > mostLacked && (f.lacked-mostLacked)%seldom != 0 {
		f.lacked++
		return nil, nil
	}
	var regs arch.Registers
	for i, r := range p.arch.ThreadPointer {
		regs.Set(r, f.pointer[i])
	}
	var before *live.Reads
	r := w.rests[int32(th.ID())]
	if r != nil && r.holds(w, p) {
		before = r.reads
	}
	if x = w.sleepers.Read(th, &regs, before); x == nil {
		return nil, nil
	}
	p.jit.doubt = false
	x.Registers(&w.regs)
	if before != nil && x.Same(before) && x.Slept() {
		w.stats.Whole++
		return x, r
	}
	n, whole := p.walkCached(x.StackMemory())
	if whole {
		x.Note() // what decorate reads: it makes the frames once more
		p.decorate(x, x.StackMemory(), n, true, 0)
		whole = !p.languages.lacks(n)
	}
	if !x.Slept() {
		return nil, nil
	}
	if !whole {
		f.lacked++
		return nil, nil
	}
	f.lacked = 0
	w.stack = w.stack[:0]
	p.appendPlaces(n)
	w.stats.Whole++
	return x, nil
}
