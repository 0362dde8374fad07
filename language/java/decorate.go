package java

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// Decorate implements [language.Runtime].
func (vm *machine) Decorate(s *language.Stack) (*language.Decoration, error) {
	var d language.Decoration
	r := vmstructs.NewReader(s.Memory, s.Arch.Order)
	defer r.Free()
	var has entered
	if vm.layout != nil {
		has = vm.frames(r, s, &d)
	}
	told := false
	if !s.FramesAlone {
		if t := vm.threads.tell(r, s, has); t != nil {
			d.Thread, told = *t, true
		}
	}
	if len(d.Groups) == 0 && d.Names == nil && !told && d.Early == "" {
		return nil, nil
	}
	return &d, nil
}

// unloaded says that the code of a frame was not there any more when a copy of the stack was read.
const unloaded = "code was unloaded, or the process had ended, before the frame was read"

// frames adds the frames of a stack, and the names of other code of the machine's. It returns the
// monitors that the frames have entered.
func (vm *machine) frames(r *vmstructs.Reader, s *language.Stack, d *language.Decoration) entered {
	of := &contents{reading: &reading{Reader: r, heap: &vm.threads.heap}}
	if (s.Locals || !s.FramesAlone) && of.ready() {
		of.variables = s.Locals
		if !s.FramesAlone {
			of.monitors = entered{}
		}
	}
	interpreter, bytes, interprets := vm.code.Code(r)
	callStub, _ := r.Word(vm.callStub.Offset)
	for level, f := range s.Frames {
		if f.Type() != frame.Normal {
			continue
		}
		pc := f.AddressInBlock()
		if m := f.Module(); m != nil {
			// What the machine does between calls of Java, and before the first one, is its own.
			if m == vm.module && len(d.Groups) > 0 {
				d.Own = append(d.Own, level)
			}
			continue
		}
		name := ""
		var frames []language.Frame
		placed, gone := true, false
		switch {
		case interprets && pc-interpreter < bytes:
			if frames, placed = vm.interpretedFrame(r, s.Arch, f, of); frames == nil {
				name = "Interpreter"
			}
		case callStub != 0 && f.PC() == callStub:
			name = "call_stub"
			d.Own = append(d.Own, level)
		default:
			b, err := vm.blobs.Find(r, pc, nil)
			if err != nil && level > 0 && vm.parked.IsReturnBarrier(r, &b, f.PC()) {
				if s.Later {
					d.Early = onTheHeap
				} else if frames, err = vm.behindBarrier(s); err != nil {
					d.Early = err.Error()
				}
				break
			}
			if err != nil && level > 0 && vm.parked.Moves(r, &b, f.PC()) {
				d.Early = onTheMove
			}
			if err != nil && b.At == 0 {
				gone = !interprets || vm.blobs.Has(r, pc)
				break
			}
			if name = vm.nameOf(r, &b); name == "nmethod" || name == "native nmethod" {
				if frames, placed = vm.compiledFrames(r, s.Arch, f, &b, of); frames != nil {
					name = ""
				}
			}
		}
		// A caller is at a call, which other code in the same place has elsewhere.
		if called := f.AddressInBlock() != f.PC(); s.Later && (gone || called && frames != nil && !placed) {
			d.Early, frames = unloaded, nil
		}
		if frames != nil {
			cfa, _ := f.CFA()
			d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: frames})
			of.level += len(frames)
		} else if name != "" {
			if d.Names == nil {
				d.Names = map[int]string{}
			}
			d.Names[level] = name
		}
	}
	return of.monitors
}

// nameOf returns the name of a piece of code.
func (vm *machine) nameOf(r *vmstructs.Reader, b *vmstructs.Blob) string {
	at, ok := r.Pointer(b.At, vm.blobName)
	if !ok {
		return ""
	}
	if last := vm.named.Load(); last != nil && last.at == at {
		return last.text
	}
	text := r.Name(at)
	if at >= vm.module.Lo() && at < vm.module.Hi() { // the module's own text, as most are
		vm.named.Store(&name{at, text})
	}
	return text
}

// name is a text of the machine's, which does not change, and its address.
type name struct {
	at   uint64
	text string
}
