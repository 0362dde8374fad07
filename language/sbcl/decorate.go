package sbcl

import (
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/sbcl"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Decorate implements [language.Runtime].
func (x *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	r := &reader{Reader: structs.New(s.Arch, s.Memory, &x.pages), vm: x.vm, left: mostWork}
	defer r.Free()
	var d language.Decoration
	for level, f := range s.Frames {
		if f.Type() != frame.Normal && f.Type() != frame.OtherStack {
			continue
		}
		if f.Module() == x.vm.Module {
			// What the run time does between functions of Lisp, and outside of them, is its own.
			if len(d.Groups) > 0 {
				d.Own = append(d.Own, level)
			}
			continue
		}
		pc := f.AddressInBlock()
		if x.vm.At(pc) != sbcl.Lisp {
			continue
		}
		one := r.frameAt(pc)
		if err := r.Err(); err != nil && d.Early == "" {
			d.Early = fmt.Sprintf("the function at %#x has no name: %v", pc, err)
		}
		if one.Function == "" {
			continue
		}
		cfa, _ := f.CFA()
		d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: []language.Frame{one}})
	}
	if len(d.Groups) == 0 && d.Early == "" {
		return nil, nil
	}
	return &d, nil
}

// reader reads the objects of a heap at one moment.
type reader struct {
	*structs.Reader
	vm   *sbcl.Runtime
	left int // how many more objects and characters of names may be read
}

// mostWork bounds it, for one stack.
const mostWork = 1 << 22

// spend takes note of n objects. It reports whether they may be read.
func (r *reader) spend(n int) bool {
	if r.left -= n; r.left < 0 {
		r.Fail("there is more debug information than can be")
		return false
	}
	return true
}

// frameAt returns the frame of the function that has the code at pc. It has no name if nothing
// tells one: some objects have a few instructions of their own.
func (r *reader) frameAt(pc uint64) (f language.Frame) {
	code, ok := r.vm.Find(r.Memory(), pc)
	if !r.spend(int(pc-code.Start)/16) || !ok {
		return f
	}
	if code.Routines {
		routine, _ := r.vm.Routine(r.Memory(), &code, pc)
		return language.Frame{Function: routine.Name, Kind: "assembly routine", Place: routine.Lo}
	}
	info, ok := r.infoOf(&code)
	if !ok {
		return f
	}
	name := r.functionAt(&info, pc-code.Text)
	return language.Frame{Function: r.text(name, info.old), File: r.file(&info), Place: code.Start}
}
