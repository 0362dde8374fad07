package frame

import (
	"math"

	"github.com/sfwalk/sfwalk/trad"
)

// On one stack a return leads outward. If a good row leads SP inward, THIS and PREVIOUS are on
// different stacks: THIS has changed stacks (its CFA is on the old one), or is the first frame
// on a stack that PREVIOUS has changed to (its row restores SP). Either is a frame of type
// OtherStack. The row may be wrong, or the stack corrupt. So the return address must follow
// a call, and the walk must never come to where it has been. That bounds the walk, too: each
// frame takes stack that no inner frame has.

// findsChange reports whether THIS, whose return address was read, is such a frame.
func (f *Frame) findsChange() bool {
	const no = trad.Guess | trad.Once | trad.Outermost
	s := f.stack
	if f.typ != Normal || !f.spKnown || f.row.Flags&no != 0 {
		return false
	}
	to := f.prevSP()
	if !to.Known() || !s.arch.InnerThan(to.Bits, f.sp) || f.ra.Lval != InMemory || !f.afterCall() {
		return false
	}
	if f.ofWalker {
		f.changesStack = true // perhaps: only the Stack knows where it has been
		return false
	}
	at := to.Bits - uint64(s.arch.SPFromCFA)
	if s.visited.changes == maxChanges || s.modules.Find(at) != nil && s.modules.IsCode(at) {
		return false
	}
	through := f.Level
	if f.cfa == at {
		through-- // the CFA is on the other stack
	}
	if !s.visited.add(s, through) || s.visited.holds(at) {
		return false
	}
	s.visited.changes++
	return true
}

// afterCall reports whether the return address of THIS follows a call, or code that cannot be read.
func (f *Frame) afterCall() bool {
	s := f.stack
	pc := s.arch.CodeAddress(f.ra.Bits)
	return s.arch.AfterCall != nil && s.modules.IsCode(pc-1) && s.query.MayFollowCall(pc)
}

// visited is where the frames of a Stack are, for a walk that has come to a change of stacks.
type visited struct {
	changes int      // how many frames have changed stacks; spans is used only if there are any
	spans   []extent // each from an inner frame to the CFA of an outer one
	next    int      // level of the first frame that is not in spans
	free    extent   // around the CFA that holds was asked about last: no span overlaps it
}

// extent is a range of stack addresses, both ends belonging to it.
type extent struct{ lo, hi uint64 }

const (
	maxChanges = 1 << 12  // changes of stacks that one stack may have
	maxSpans   = 1 << 16  // extents to look through
	largeGap   = 64 << 10 // from CFA to CFA: between them may be another stack
)

// add adds the frames up to a level, and reports whether maxSpans was enough.
func (l *visited) add(s *Stack, through int) bool {
	l.free = extent{}
	for ; l.next <= through && len(l.spans) <= maxSpans; l.next++ {
		f := s.frame(l.next)
		at := f.cfa
		if last := len(l.spans) - 1; last >= 0 && l.next > 0 && at >= l.spans[last].hi && at-l.spans[last].hi <= largeGap {
			l.spans[last].hi = at
			continue
		}
		span := extent{at, at}
		if f.spKnown && f.sp <= at && at-f.sp <= largeGap {
			span.lo = f.sp
		}
		l.spans = append(l.spans, span)
	}
	return len(l.spans) <= maxSpans
}

// holds reports whether a CFA lies where frames are.
func (l *visited) holds(cfa uint64) bool {
	if l.free.lo < cfa && cfa < l.free.hi {
		return false
	}
	free := extent{0, math.MaxUint64}
	for _, x := range l.spans {
		switch {
		case x.hi < cfa:
			free.lo = max(free.lo, x.hi)
		case x.lo > cfa:
			free.hi = min(free.hi, x.lo)
		default:
			return true
		}
	}
	l.free = free
	return false
}
