package dotnet

import (
	"errors"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
)

// unloaded says that the code of a frame was not there any more when a copy of the stack was read.
const unloaded = "code was unloaded, or the process had ended, before the frame was read"

// Decorate implements [language.Runtime].
func (x *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	mem := x.pages.Of(s.Memory)
	defer x.pages.Free(mem)
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
		inner = x.frame(mem, s, &d, level)
	}
	var about *language.Thread
	if !s.FramesAlone && !s.Later {
		if about = x.about(mem, s); about != nil {
			d.Thread = *about
		}
	}
	if about == nil && len(d.Groups) == 0 && len(d.Names) == 0 && d.Early == "" {
		return nil, nil
	}
	return &d, nil
}

// frame adds what the frame of a level is. It returns the level up to which all frames outside of
// it are parts of the same method's frame, or stand for nothing any more.
func (x *runtime) frame(mem *pages.Pages, s *language.Stack, d *language.Decoration, level int) (end int) {
	f := s.Frames[level]
	if m := f.Module(); m != nil {
		if _, _, err := m.PeekImage(); err == nil {
			return 0 // native code
		}
	}
	pc := f.AddressInBlock()
	c, err := x.vm.Find(mem, pc)
	switch {
	case errors.Is(err, coreclr.ErrStub):
		d.Own = append(d.Own, level)
		name(d, level, "stub")
		return 0
	case err != nil:
		if s.Later {
			d.Early = unloaded
		}
		return 0
	}
	m := x.method(mem, &c)
	if m.stub || m.hidden && len(d.Groups) > 0 { // the innermost frame is worth showing
		d.Own = append(d.Own, level)
		name(d, level, m.function)
		return 0
	}
	cfa, _ := f.CFA()
	one := language.Frame{Function: m.function, Place: c.Start}
	if c.Brought {
		one.Kind = "ReadyToRun"
	}
	x.line(mem, &c, m, pc, &one)
	one.Guess = one.Guess || m.of != nil && m.of.guess
	if c.IsHandler() {
		one.Kind = "handler"
		if x.vm.IsFilter(mem, &c) {
			one.Kind = "filter"
		} else {
			end = x.bodyOf(mem, s, level, &c) + 1
		}
	}
	d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: []language.Frame{one}})
	return end
}

// bodyOf returns the level of the frame of a method's body, while a handler of it, such as a catch
// clause, runs in a frame of its own, at a level; -1 if there is none. Between them are the run
// time, which has called the handler, and frames of methods that have failed. Both frames of the
// method have the same frame pointer.
func (x *runtime) bodyOf(mem *pages.Pages, s *language.Stack, level int, handler *coreclr.Code) int {
	fp := s.Frames[level].Register(s.Arch.FP)
	if !fp.Known() {
		return -1
	}
	for i, f := range s.Frames[level+1:] {
		if of := f.Register(s.Arch.FP); f.Type() != frame.Normal || !of.Known() || of.Bits != fp.Bits {
			continue
		}
		if c, err := x.vm.Find(mem, f.AddressInBlock()); err == nil && c.Start == handler.Start && !c.IsHandler() {
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
