package racket

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// entry is a physical frame that runs procedures.
type entry struct {
	level int
	code  code
	last  bool // no other one is outward before C enters Scheme
}

// enters is the procedure of Chez Scheme that stands where C has entered Scheme.
const enters = "invoke"

// Decorate implements [language.Runtime].
func (x *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	r := &reader{Reader: structs.New(s.Arch, s.Memory, &x.pages), left: mostWork}
	defer r.Free()
	entries := x.entries(r, s)
	if len(entries) == 0 {
		return nil, nil
	}
	d := &language.Decoration{}
	var list []call
	if c, ok := x.context(r, s, entries[0]); ok {
		var err error
		if list, err = r.calls(c); err != nil {
			d.Early = "its frames end early: " + err.Error()
		}
	} else {
		d.Early = "the stack of its procedures was not found: none is known that waits"
	}
	known := map[uint64]language.Frame{}
	for i, e := range entries {
		f := s.Frames[e.level]
		cfa, _ := f.CFA()
		g := language.Group{Anchor: language.Anchor{Level: e.level, PC: f.PC(), CFA: cfa}}
		if e.level == 0 {
			g.Frames = append(g.Frames, r.frame(e.code, 0))
		} else {
			g.Frames = append(g.Frames, r.known(known, call{e.code, f.PC()}))
		}
		for e.last && len(list) > 0 {
			c, one := list[0], r.known(known, list[0])
			list = list[1:]
			g.Frames = append(g.Frames, one)
			if c.code.system && one.Function == enters && i < len(entries)-1 {
				break
			}
		}
		d.Groups = append(d.Groups, g)
	}
	d.Own = x.own(s, entries[0].level)
	for _, f := range s.Frames[:entries[0].level] {
		if !s.FramesAlone && x.runs(f, x.collect) {
			d.Thread.State = "collects garbage"
		}
	}
	return d, nil
}

// entries returns the physical frames of a stack that run procedures, the innermost first.
func (x *runtime) entries(r *reader, s *language.Stack) (list []entry) {
	for level, f := range s.Frames {
		entered := level > 0 && x.runs(s.Frames[level-1], x.enter)
		if level > 0 && x.runs(f, x.enter) && len(list) > 0 {
			list[len(list)-1].last = true
		}
		if f.Module() != nil || f.Type() != frame.Normal || entered {
			continue // what enters Scheme may be code that has been made for C to call
		}
		if c, ok := r.codeOf(f.AddressInBlock()); ok {
			list = append(list, entry{level: level, code: c})
		}
	}
	if len(list) > 0 {
		list[len(list)-1].last = true
	}
	return list
}

// inward returns how far the frame of another procedure, which is about to be called or has just
// returned, is inward of the one that a physical frame runs, bytes.
func (x *runtime) inward(r *reader, f *frame.Frame, c code) uint64 {
	lo := max(c.lo, f.PC()-min(f.PC(), x.code.Reach))
	b := make([]byte, min(c.hi, f.PC()+x.code.Reach)-lo)
	if !r.Bytes(lo, b) {
		r.Err()
		return 0
	}
	return x.code.Inward(b, int(f.PC()-lo))
}

// context returns what the thread has of Scheme: code keeps the address of its record in a
// register.
func (x *runtime) context(r *reader, s *language.Stack, e entry) (c context, ok bool) {
	f := s.Frames[e.level]
	at, base := f.Register(x.code.Context), f.Register(x.code.Stack)
	if !at.Known() || !base.Known() {
		return c, false
	}
	return r.contextAt(at.Bits, base.Bits-x.inward(r, f, e.code))
}

// own returns the levels of the run time's own frames outward of a level.
func (x *runtime) own(s *language.Stack, level int) (levels []int) {
	for ; level < len(s.Frames); level++ {
		if x.isOwn(s.Frames[level]) || level > 0 && x.runs(s.Frames[level-1], x.enter) {
			levels = append(levels, level)
		}
	}
	return levels
}
