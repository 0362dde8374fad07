package mono

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// Decorate implements [language.Runtime].
func (x *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	mem := x.pages.Of(s.Memory)
	defer x.pages.Free(mem)
	r := &reading{runtime: x, mem: mem, known: map[uint64]*method{}}
	r.find()
	var d language.Decoration
	for level, f := range s.Frames {
		switch {
		case f.Type() != frame.Normal:
		case f.Module() == x.module:
			// What Mono does between frames of methods, and outside of them, is its own.
			if len(d.Groups) > 0 {
				d.Own = append(d.Own, level)
			}
		case !isFile(f):
			r.frame(&d, level, f, r.at(f.AddressInBlock()))
		default:
			if m := r.ahead(f.Module(), f.AddressInBlock()); m != nil {
				r.frame(&d, level, f, m)
			}
		}
	}
	if len(d.Groups) == 0 && len(d.Own) == 0 {
		return nil, nil
	}
	return &d, nil
}

// isFile reports whether a frame is in the code of a file.
func isFile(f *frame.Frame) bool {
	if m := f.Module(); m != nil {
		_, _, err := m.PeekImage()
		return err == nil
	}
	return false
}

// frame adds what a frame is, if it is a method's.
func (r *reading) frame(d *language.Decoration, level int, f *frame.Frame, m *method) {
	if !m.code {
		return
	}
	if m.wrapper {
		d.Own = append(d.Own, level)
		if d.Names == nil {
			d.Names = map[int]string{}
		}
		d.Names[level] = m.name
		return
	}
	cfa, _ := f.CFA()
	d.Groups = append(d.Groups, language.Group{
		Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa},
		Frames: []language.Frame{{Function: m.name, File: m.file, Line: m.line, Place: m.start}},
	})
}
