package java

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// methodSlot is where an interpreted frame has its method, in words from its frame pointer on.
const methodSlot = -3

// slotsOfFrame are where an interpreted frame has more, in words from its frame pointer on.
type slotsOfFrame struct {
	// locals says where the variables are: an address, or, from JDK 21 on, a distance in words from
	// the frame pointer.
	locals   int
	bytecode int // the address of the bytecode that runs, as it was at the last call
	// monitors says where the newest monitor is, as locals does. The monitors end at the slot
	// itself.
	monitors int
}

// slotsOf returns the slots of a release on a processor.
func slotsOf(a *arch.Arch, release int) slotsOfFrame {
	between := 2 // of 8, on all processors
	if j := a.JavaInterpreter; j != nil && release != 8 {
		between = j.Between
	}
	locals := methodSlot - 1 - between
	return slotsOfFrame{locals, locals - 1, locals - 2}
}

// interpretedFrame returns the frame of Java for which an interpreted frame stands; nil if the
// interpreter is in no method there. placed reports whether the place in the method is known.
// What else is wanted of it is read with of.
func (vm *machine) interpretedFrame(r *vmstructs.Reader, a *arch.Arch, f *frame.Frame, of *contents) (list []language.Frame, placed bool) {
	fp, sp := f.Register(a.FP), f.Register(a.SP)
	cfa, ok := f.CFA()
	slot := fp.Bits - 8*-methodSlot
	if ok && fp.Known() && cfa == fp.Bits+uint64(a.FrameRecord) && sp.Known() && !a.InnerThan(slot, sp.Bits) {
		if at, ok := r.Word(slot); ok {
			if m := vm.method(r, at); m != nil {
				bci := vm.bytecode(r, a, f, m, fp.Bits)
				list = vm.interpreted(m, bci)
				if of.variables {
					vm.interpretedVariables(of.reading, m, bci, fp.Bits, &list[0])
				}
				if of.monitors != nil {
					vm.interpretedMonitors(of, fp.Bits)
				}
				return list, bci >= 0 || m.native
			}
		}
	}
	// The frame is not made yet.
	if a.JavaInterpreter == nil || f.AddressInBlock() != f.PC() {
		return nil, false
	}
	c, ok := vm.code.Codelet(r, f.PC())
	if at := f.Register(a.JavaInterpreter.Method); ok && at.Known() && c.IsEntry() {
		if m := vm.method(r, at.Bits); m != nil {
			list = vm.interpreted(m, 0)
			list[0].Guess = true
			return list, false
		}
	}
	return nil, false
}

func (vm *machine) interpreted(m *method, bci int32) []language.Frame {
	x := language.Frame{Function: m.function, File: m.file, Kind: "interpreted", Line: vm.line(m, bci)}
	if m.native {
		x.Kind, x.File = "native", ""
	}
	return []language.Frame{x}
}

// bytecode returns the index of the bytecode at which an interpreted frame is; -2 if that is not
// known. The interpreter saves it in the frame before calls, and has it in a register meanwhile.
func (vm *machine) bytecode(r *vmstructs.Reader, a *arch.Arch, f *frame.Frame, m *method, fp uint64) int32 {
	if j := a.JavaInterpreter; j != nil {
		if v := f.Register(j.Bytecode); v.Known() && v.Bits-m.codes < m.size {
			return int32(v.Bits - m.codes)
		}
	}
	if at, ok := r.Word(fp - 8*uint64(-vm.slots.bytecode)); ok && at-m.codes < m.size {
		return int32(at - m.codes)
	}
	return -2
}
