package guile

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// anonymous is how Guile's backtraces write a procedure without a name.
const anonymous = "_"

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	var levels []int // of scm_call_n
	for level, f := range s.Frames {
		if r.isOwn(f) {
			if begin, _ := f.Function(); begin == r.call {
				levels = append(levels, level)
			}
		}
	}
	// Code that Guile has compiled while it runs may end a stack: no table is for it.
	if len(s.Frames) == 0 || len(levels) == 0 && s.Whole {
		return nil, nil
	}
	m := structs.New(s.Arch, s.Memory, &r.pages)
	defer m.Free()
	at := r.machine(m, s, levels)
	if at == 0 {
		return nil, nil // C has called, and the call is just beginning or ending
	}
	calls, err := calls(m, at, r.has)
	d := &language.Decoration{}
	if err != nil {
		d.Early = "its frames end early: " + err.Error()
	}
	call := 0
	var frames []language.Frame
	end := func() {
		if len(frames) > 0 {
			anchor := language.Anchor{Level: -1} // the physical stack ends before
			if call < len(levels) {
				f := s.Frames[levels[call]]
				cfa, _ := f.CFA()
				anchor = language.Anchor{Level: levels[call], PC: f.PC(), CFA: cfa}
			}
			d.Groups = append(d.Groups, language.Group{Anchor: anchor, Frames: frames})
			frames = nil
		}
	}
	for i, c := range calls {
		if c.begins {
			end()
			if call++; call >= len(levels) && s.Whole {
				break
			}
			continue
		}
		f, ok := language.Frame{}, false
		if i == 0 {
			f, ok = r.innermost(m, s, levels, calls)
		} else {
			f, ok = r.frame(m, c, false)
		}
		if ok {
			frames = append(frames, f)
		}
	}
	if call < len(levels) || !s.Whole {
		end()
	}
	if r.isFull() && d.Early == "" {
		d.Early = "the images of code are too many, or too large: procedures of some are not shown"
	}
	if len(d.Groups) == 0 {
		return nil, err
	}
	d.Own = r.own(s, d.Groups)
	return d, nil
}

// frame returns a call as a frame; ok is false if its code is not Scheme's.
func (r *runtime) frame(m *structs.Reader, c call, innermost bool) (f language.Frame, ok bool) {
	addr := c.ip
	if !innermost {
		addr-- // the call is before it
	}
	im := r.imageOf(m, addr)
	if im == nil {
		return f, false
	}
	name, ok := im.nameOf(addr)
	if !ok {
		return f, false
	}
	f = language.Frame{Function: name, Place: c.fp, Guess: innermost}
	if name == "" {
		f.Function = anonymous
	}
	f.File, f.Line = im.placeOf(addr)
	return f, true
}

// own returns the levels of Guile's own frames between the groups, and of the ones that have begun
// the outermost group.
func (r *runtime) own(s *language.Stack, groups []language.Group) (levels []int) {
	lo, hi := groups[0].Anchor.Level, 0
	for _, g := range groups {
		hi = max(hi, g.Anchor.Level)
	}
	for level := max(0, lo); lo >= 0 && level < len(s.Frames); level++ {
		if r.isOwn(s.Frames[level]) {
			levels = append(levels, level)
		} else if level > hi {
			break
		}
	}
	if j := compiled(s, lo); j >= 0 { // it, and what has entered it
		for level := j; level < lo; level++ {
			levels = append(levels, level)
		}
	}
	return levels
}
