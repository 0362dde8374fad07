package r

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	p := r.placerOf(s)
	if p.innermost < 0 {
		return nil, nil
	}
	memory := structs.New(s.Arch, s.Memory, &r.pages)
	defer memory.Free()
	m := r.reader(memory)
	contexts, err := r.contexts(m)
	if err != nil && len(contexts) == 0 {
		return nil, err
	}
	file, line := m.place(m.Pointer(r.srcref)) // of the innermost function, where no bytecode runs
	m.Err()
	for _, c := range contexts {
		var f *language.Frame
		if c.name != "" {
			f = &language.Frame{Function: c.name, File: file, Line: line, Place: c.at}
			if c.flags&functions == 0 {
				f.Kind = "native"
			}
			file, line = c.file, c.line
		}
		p.add(c.at, f)
	}
	p.end()
	if len(p.groups) == 0 {
		return nil, err
	}
	d := &language.Decoration{Groups: p.groups, Own: p.own()}
	if err != nil {
		d.Early = "its frames end early: " + err.Error()
	}
	return d, nil
}
