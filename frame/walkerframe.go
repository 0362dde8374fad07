package frame

import "github.com/sfwalk/sfwalk/trad"

// The frames of a [Stack] are a chain. A [Walker] makes one frame after the other in one Frame,
// THIS, and its [Context] has summaries of the two inner ones. If a rule or a sniffer asks for
// more, such as a register that an inner frame has saved, the Walker makes the inner
// frames on a Stack of its own.

// summary is what an outer frame is checked against.
type summary struct {
	pc, cfa uint64
	typ     Type
	caller  bool // pc is a return address: the frame's AddressInBlock is another one
}

// nextSummary returns NEXT's summary.
func (f *Frame) nextSummary() summary {
	if f.ofWalker {
		return f.stack.walk.next
	}
	return f.next.summary()
}

// beyondSummary returns the summary of NEXT's NEXT, or of the sentinel if that is NEXT.
func (f *Frame) beyondSummary() summary {
	switch {
	case f.ofWalker:
		return f.stack.walk.beyond
	case f.next.next == nil:
		return f.next.summary()
	}
	return f.next.next.summary()
}

func (f *Frame) summary() summary { return summary{f.pc, f.cfa, f.typ, f.caller} }

// inner returns NEXT, nil for the sentinel and for a dropped frame. It makes NEXT if THIS is
// a Walker's.
func (f *Frame) inner() *Frame {
	if f.ofWalker && f.next == nil {
		s := f.stack
		if f.next = s.reach(f.Level - 1); f.next == nil {
			// The memory has changed since the Walker was there.
			next := s.walk.next
			f.next = &Frame{Level: f.Level - 1, stack: s, pc: next.pc, cfa: next.cfa, typ: next.typ, winner: -1, claimErr: errRanOn}
		}
		f.next.inherit(f)
	}
	return f.next
}

// carriedRegister returns a register of a Walker's THIS that the Context has.
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

// reach returns the frame of the chain at a level, and makes the frames that are missing; it
// returns nil if the chain ends before. It restores the state of a query that is under way.
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
	return s.frame(level) // f, unless a copy of the context has gone further out
}
