package php

import (
	"cmp"

	"github.com/sfwalk/sfwalk/language"
)

// Decorate implements [language.Runtime].
func (e *engine) Decorate(s *language.Stack) (*language.Decoration, error) {
	if !e.mayRun(s) {
		return nil, nil
	}
	r := e.reader(s.Memory)
	defer r.Free()
	state, ok := e.where.of(r, s)
	if !ok {
		return nil, r.Err()
	}
	c := e.newChain(r, state)
	current := r.Pointer(c.globals + e.layout.at[globalsCurrent])
	if err := r.Err(); err != nil {
		return nil, err
	}
	d := &language.Decoration{}
	if err := c.read(current); err != nil {
		d.Early = "its frames end early: " + err.Error()
	}
	if err := c.join(s); err != nil {
		d.Early = "its frames end early: " + err.Error()
	}
	list := c.activations(s)
	c.matched(list)
	if len(c.calls) > 0 {
		early := ""
		d.Groups, early = c.groups(s, list)
		d.Early = cmp.Or(d.Early, early)
		d.Own = e.ownLevels(s, d.Groups)
	}
	if len(c.calls) > 0 && !s.FramesAlone {
		d.Thread.State, d.Thread.Exception = c.about(), c.exception()
	}
	if len(d.Groups) == 0 && d.Early == "" {
		return nil, nil
	}
	return d, nil
}
