package ruby

import (
	"github.com/sfwalk/sfwalk/language"
)

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	m := r.memory(s.Memory)
	defer m.Free()
	ec := r.context(m, s)
	if ec == 0 {
		return nil, nil
	}
	m.vm = m.Pointer(m.Pointer(ec+m.contextThread) + m.threadVM)
	c := chain{m: m}
	err := c.read(ec)
	d := &language.Decoration{}
	d.Groups, d.Early = r.place(s, &c)
	d.Own = r.ownLevels(s, d.Groups)
	if !s.FramesAlone {
		d.Thread = m.about(s, ec, c.exception)
		return d, err
	}
	if len(d.Groups) == 0 && err == nil {
		return nil, nil
	}
	return d, err
}
