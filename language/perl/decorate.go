package perl

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	own := r.ownFrames(s)
	if len(own) == 0 {
		return nil, nil
	}
	m := reader{structs.New(s.Arch, s.Memory, &r.pages), r.layout}
	defer m.Free()
	st, ok := r.state(m, s)
	if !ok {
		return nil, nil
	}
	d := &language.Decoration{}
	list, err := r.contexts(m, st)
	if err != nil {
		d.Early = "its frames end early: " + err.Error()
	}
	h := r.hostsOf(s, own)
	list = h.hosted(list)
	d.Groups = h.place(list)
	d.Groups = append(d.Groups, r.nativeSubs(m, s, own, st.top)...)
	slices.SortStableFunc(d.Groups, func(a, b language.Group) int { return cmp.Compare(a.Anchor.Level, b.Anchor.Level) })
	if len(d.Groups) > 0 {
		d.Own = r.hidden(own, h)
	}
	return d, nil
}

// ownFrame is a physical frame in perl's code.
type ownFrame struct {
	level int
	f     *frame.Frame
	pc    uint64 // within the function
}

// ownFrames returns the physical frames in perl's code.
func (r *runtime) ownFrames(s *language.Stack) (list []ownFrame) {
	for level, f := range s.Frames {
		if pc := f.AddressInBlock(); pc >= r.module.Lo() && pc < r.module.Hi() && f.Type() == frame.Normal {
			list = append(list, ownFrame{level, f, pc})
		}
	}
	return list
}

// anchorAt returns the anchor of a physical frame.
func anchorAt(level int, f *frame.Frame) language.Anchor {
	cfa, _ := f.CFA()
	return language.Anchor{Level: level, PC: f.PC(), CFA: cfa}
}
