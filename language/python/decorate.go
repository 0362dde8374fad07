package python

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/language"
)

// mostUsual bounds the frames for which room is made before they are read.
const mostUsual = 256

// Decorate implements [language.Runtime].
func (r *interpreter) Decorate(s *language.Stack) (*language.Decoration, error) {
	m := r.memory(s.Memory)
	states, err := r.threadStates(m, s)
	if len(states) == 0 {
		return nil, err
	}
	d := &language.Decoration{}
	o := newObjects(m)
	var within [][]entered // by thread state
	var frames []language.Frame
	for i := range states {
		c := chain{r: r, m: m, stack: s, states: len(states)}
		c.makeRoom(r.usual.Load())
		if s.Locals {
			c.objects = o
		}
		if err := c.read(&states[i]); err != nil {
			d.Early = "its frames end early: " + err.Error()
		}
		r.usual.Store(int64(min(c.total, mostUsual)))
		d.Groups = append(d.Groups, c.groups...)
		within = append(within, c.entered)
		frames = c.grouped()
	}
	if len(states) > 1 { // the frames of several interpreters lie between each other
		slices.SortStableFunc(d.Groups, func(a, b language.Group) int { return cmp.Compare(place(&a.Anchor), place(&b.Anchor)) })
		frames = framesOf(d.Groups)
	}
	d.Own = r.ownLevels(s, d.Groups)
	if o != nil && !s.FramesAlone {
		d.Thread = r.about(o, s, states, within, d.Groups, frames)
	}
	return d, err
}

// place returns where an anchor lies on the stack; what has no place comes last.
func place(a *language.Anchor) uint64 {
	if a.Level < 0 {
		return ^uint64(0)
	}
	return cmp.Or(a.Address, a.CFA)
}
