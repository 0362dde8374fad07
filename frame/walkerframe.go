package frame

import "github.com/sfwalk/sfwalk/trad"

// The frames of a [Stack] are a chain. A [Walker] makes one frame after the other in one room,
// THIS, and of the inner ones its [Context] has only as much as a frame is held against. Where a
// rule or a sniffer asks for more, such as a register that an inner frame has saved, the inner
// frames are made on a Stack of the Walker's own, as they are on any other.

// summary is as much of a frame as an outer one is held against.
type summary struct {
	pc, cfa uint64
	typ     Type
}

// nextSummary returns the summary of NEXT.
func (f *Frame) nextSummary() summary {
	if f.ofWalker {
		return f.stack.walk.next
	}
	return f.next.summary()
}

// beyondSummary returns the summary of the NEXT frame's NEXT. The sentinel, which has none, stands for it.
func (f *Frame) beyondSummary() summary {
	switch {
	case f.ofWalker:
		return f.stack.walk.beyond
	case f.next.next == nil:
		return f.next.summary()
	}
	return f.next.next.summary()
}

func (f *Frame) summary() summary { return summary{f.pc, f.cfa, f.typ} }

// inner returns NEXT, which is made if THIS is a Walker's; nil for the sentinel and for a frame
// whose inner ones were let go.
func (f *Frame) inner() *Frame {
	if f.ofWalker && f.next == nil {
		s := f.stack
		if f.next = s.reach(f.Level - 1); f.next == nil {
			// The memory is another than when the Walker was there.
			next := s.walk.next
			f.next = &Frame{Level: f.Level - 1, stack: s, pc: next.pc, cfa: next.cfa, typ: next.typ, winner: -1, claimErr: errRanOn}
		}
		f.next.inherit(f)
	}
	return f.next
}

// carriedRegister returns a register of THIS that is known without its NEXT.
func (f *Frame) carriedRegister(r trad.Reg) (v Value, ok bool) {
	switch a := f.stack.arch; r {
	case a.PC:
		return Value{Bits: f.pc, Lval: Computed}, true
	case a.FP:
		return f.fp, true
	case a.SP:
		return Value{Bits: f.sp, Lval: Computed}, f.spKnown
	case a.RA:
		c := f.stack.walk
		return Value{Bits: c.RA, Lval: Computed}, c.HasRA
	}
	return v, false
}

// reach returns the frame of the chain at a level, making those that are not there; nil where
// the chain ends before. A query that is under way goes on as if nothing had been.
func (s *Stack) reach(level int) *Frame {
	defer func(query Query, late bool) {
		s.query = query
		s.window.late = s.window.late || late
	}(s.query, s.window.late)
	if s.stale || level < s.nDropped {
		s.restart()
	}
	f := s.last()
	for f.Level < level {
		prev, _ := f.Prev()
		if prev == nil {
			return nil
		}
		f = prev
	}
	if f.late || f.moved {
		s.window.late = true
	}
	if level < 0 {
		return &s.sentinel
	}
	return s.frame(level) // f, but for a copy of a context that is behind
}
