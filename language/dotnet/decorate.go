package dotnet

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/language"
)

// unloaded says that the code of a frame was not there any more when a copy of the stack was read.
const unloaded = "code was unloaded, or the process had ended, before the frame was read"

// Decorate implements [language.Runtime].
func (x *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	l := x.take(s)
	defer x.give(s, l)
	var d language.Decoration
	inner := 0 // frames that a handler hides
	for level, f := range s.Frames {
		if f.Type() != frame.Normal {
			continue
		}
		if level < inner {
			d.Own = append(d.Own, level)
			continue
		}
		if f.Module() == x.vm.Module {
			// What the run time does between managed frames, and outside of them, is its own.
			if len(d.Groups) > 0 {
				d.Own = append(d.Own, level)
			}
			continue
		}
		inner = l.frameAt(s, &d, level)
	}
	if s.Later && len(d.Groups) == 0 && len(s.Frames) > 0 && l.unknown(s.Frames[0]) {
		d.Early = unloaded
	}
	var about *language.Thread
	if !s.FramesAlone && !s.Later {
		if about = x.about(l.mem, s, d.Groups); about != nil {
			d.Thread = *about
		}
	}
	if about == nil && len(d.Groups) == 0 && len(d.Names) == 0 && d.Early == "" {
		return nil, nil
	}
	return &d, nil
}

// unknown reports whether a frame is neither in the run time's code nor in a file's.
func (l *look) unknown(f *frame.Frame) bool {
	if f.Type() != frame.Normal || isFile(f) {
		return false
	}
	p := l.at(f.AddressInBlock())
	return p.err != nil && !p.stub
}

// isFile reports whether a frame is in the code of a file.
func isFile(f *frame.Frame) bool {
	if m := f.Module(); m != nil {
		_, _, err := m.PeekImage()
		return err == nil
	}
	return false
}

// frameAt adds what the frame of a level is. It returns the level up to which all frames outside of
// it are parts of the same method's frame, or stand for nothing any more.
func (l *look) frameAt(s *language.Stack, d *language.Decoration, level int) (end int) {
	f := s.Frames[level]
	if isFile(f) {
		return 0 // native code
	}
	p := l.at(f.AddressInBlock())
	switch {
	case p.stub:
		d.Own = append(d.Own, level)
		name(d, level, "stub")
		return 0
	case p.err != nil:
		if s.Later && level > 0 { // the innermost one may be in a stub that the run time does not list
			d.Early = unloaded
		}
		return 0
	case p.method.stub || p.method.hidden && len(d.Groups) > 0: // the innermost frame is worth showing
		d.Own = append(d.Own, level)
		name(d, level, p.method.function)
		return 0
	}
	cfa, _ := f.CFA()
	if p.code.IsHandler() && !p.filter {
		end = l.bodyOf(s, level, &p.code) + 1
	}
	d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: []language.Frame{p.frame}})
	return end
}

// bodyOf returns the level of the frame of a method's body, while a handler of it, such as a catch
// clause, runs in a frame of its own, at a level; -1 if there is none. Between them are the run
// time, which has called the handler, and frames of methods that have failed. Both frames of the
// method have the same frame pointer.
func (l *look) bodyOf(s *language.Stack, level int, handler *coreclr.Code) int {
	fp := s.Frames[level].Register(s.Arch.FP)
	if !fp.Known() {
		return -1
	}
	for i, f := range s.Frames[level+1:] {
		if of := f.Register(s.Arch.FP); f.Type() != frame.Normal || !of.Known() || of.Bits != fp.Bits {
			continue
		}
		if p := l.at(f.AddressInBlock()); p.err == nil && p.code.Start == handler.Start && !p.code.IsHandler() {
			return level + 1 + i
		}
	}
	return -1
}

func name(d *language.Decoration, level int, text string) {
	if d.Names == nil {
		d.Names = map[int]string{}
	}
	d.Names[level] = text
}
