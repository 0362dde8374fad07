package python

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/language"
)

// Decorate implements [language.Runtime].
func (r *interpreter) Decorate(s *language.Stack) (*language.Decoration, error) {
	m := &memory{Memory: s.Memory, order: r.arch.Order, size: r.arch.PtrSize, layout: r.layout}
	states, err := r.threadStates(m, s)
	if len(states) == 0 {
		return nil, err
	}
	d := &language.Decoration{}
	o := newObjects(m)
	for i := range states {
		c := chain{r: r, m: m}
		if s.Locals {
			c.objects = o
		}
		if err := c.read(&states[i]); err != nil {
			d.Early = "its frames end early: " + err.Error()
		}
		d.Groups = append(d.Groups, c.groups...)
	}
	if len(states) > 1 { // the frames of several interpreters lie between each other
		slices.SortStableFunc(d.Groups, func(a, b language.Group) int { return cmp.Compare(a.Anchor.Address-1, b.Anchor.Address-1) })
	}
	d.Own = r.own(s, d.Groups)
	if o != nil {
		d.Thread = r.about(o, s, states)
	}
	return d, err
}
