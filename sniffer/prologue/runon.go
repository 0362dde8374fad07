package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// maxBegin is how many instructions are executed to a function's frame record, where the
	// function has begun.
	maxBegin = 32
	// maxRun is how many are executed where nothing else is known: the copy of a hundred arguments.
	maxRun = 1 << 10
)

// byBeginning answers if the code from PC on, executed with THIS frame's registers, soon makes a
// frame record, and no function that it calls does. So there is none of THIS yet. Of a caller, the
// function that it has called may make the record of THIS, as a function of V8's does.
func (s *Sniffer) byBeginning(q *frame.Query) (row trad.Row, ok bool) {
	if !q.Innermost() {
		if sp := q.This.Register(q.Arch.SP); !sp.Known() || q.Arch.RAOffset == 0 {
			return row, false
		} else if ra, ok := q.Word(sp.Bits); !ok || !followsCall(q, ra) {
			return row, false
		}
	}
	row, returns, ok := s.run(q, maxBegin)
	if !ok || returns {
		return row, false
	}
	if q.Module == nil || !q.Innermost() {
		return row, true
	}
	// The function of V8's has its own return address in a register.
	c, ok := q.Apply(&row)
	for _, r := range q.Arch.Regs {
		if v := q.This.Register(r.Num); v.Known() && v.Bits != c.PC.Bits && followsCall(q, v.Bits) {
			return row, false
		}
	}
	return row, ok
}

// byRunning answers if the code from PC on, executed so, returns, or jumps to a function that makes
// a frame record. So the return address is found while code moves the arguments of a call on the
// stack, and the return address with them, by as many words as a register says.
func (s *Sniffer) byRunning(q *frame.Query) (row trad.Row, ok bool) {
	row, _, ok = s.run(q, maxRun)
	return row, ok
}

// run executes the code from PC on. The caller must have a frame record, and the return address
// must follow a call.
func (s *Sniffer) run(q *frame.Query, limit int) (row trad.Row, returns, ok bool) {
	a := q.Arch
	if a.RunOn == nil || s.Records == nil {
		return row, false, false
	}
	fp, sp := q.This.Register(a.FP), q.This.Register(a.SP)
	if !fp.Known() || !sp.Known() || !s.Records(q, fp.Bits, sp.Bits) {
		return row, false, false
	}
	register := func(r trad.Reg) (uint64, bool) {
		v := q.This.Register(r)
		return v.Bits, v.Known()
	}
	read := func(addr uint64, p []byte) bool {
		n, _ := q.Memory.ReadMemory(addr, p)
		return n == len(p)
	}
	row, returns, steps := a.RunOn(q.PC, !q.Innermost(), limit, register, read)
	q.CountSearched(steps)
	if row.Len == 0 {
		return row, false, false
	}
	c, ok := q.Apply(&row)
	if !ok || q.OnStack(c.PC.Bits) {
		return row, false, false
	}
	return row, returns, followsCall(q, c.PC.Bits) || q.AmongV8Exits(c.PC.Bits)
}
