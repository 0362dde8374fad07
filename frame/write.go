package frame

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// SetRegister writes register r of THIS, of at most 64 bits, where the register is: into the
// thread, or into the memory in which an inner frame has saved it (GDB's put_frame_register). The
// error says why that cannot be: SP of an outer frame is nowhere, and a register that a call may
// have changed is lost.
//
// The stack's frames are of another walk then, as after [Stack.Reset]: ask the stack for them anew.
func (f *Frame) SetRegister(r trad.Reg, bits uint64) error {
	return f.WriteRegister(r, 0, f.stack.arch.RegisterBytes(r, bits))
}

// WriteRegister changes the bytes of register r of THIS from offset on to b, as the register would
// lie in memory. Call it for registers wider than 64 bits, which [Frame.SetRegister] does not
// write. In frame 0, a vector register has its full width. In an outer frame, only the bytes can be
// written that the ABI has a callee save. Otherwise WriteRegister does what SetRegister does.
func (f *Frame) WriteRegister(r trad.Reg, offset int, b []byte) error {
	at, err := f.place(r, offset, len(b))
	if err != nil {
		return f.cannotWrite(r, err)
	}
	s := f.stack
	if at.Lval == InRegister {
		th, ok := s.thread.(target.WritableThread)
		if !ok {
			return f.cannotWrite(r, errors.New("the target's registers cannot be written"))
		}
		err = th.WriteRegister(at.Reg, offset, b)
	} else {
		mem, ok := s.target.Memory().(target.WritableMemory)
		if !ok {
			return f.cannotWrite(r, errors.New("the target's memory cannot be written"))
		}
		_, err = mem.WriteMemory(at.Addr+uint64(offset), b)
	}
	if err != nil {
		return f.cannotWrite(r, err)
	}
	return s.Reset(s.target, s.thread)
}

// place returns where n bytes of a register from offset on are: InRegister or InMemory.
func (f *Frame) place(r trad.Reg, offset, n int) (Value, error) {
	switch {
	case f.outdated():
		return Value{}, errOutdated
	case f.ofWalker:
		return Value{}, errors.New("a Walker's frame has no thread")
	case offset < 0:
		return Value{}, fmt.Errorf("offset %d", offset)
	case f.Level <= 0:
		return Value{Lval: InRegister, Reg: r}, nil
	}
	a, v := f.stack.arch, f.Register(r)
	width := 8
	if i := a.Index(r); i >= 0 {
		width = a.Regs[i].Bits / 8
	}
	switch v.Lval {
	case NotSaved:
		return v, errors.New("it is not saved: the call that the frame makes may have changed it")
	case NotKnown:
		if v.Err != nil {
			return v, v.Err
		}
		return v, errors.New("it is not known")
	case InRegister:
		return v, nil
	}
	if offset+n > width {
		return v, fmt.Errorf("only its first %d bytes are saved", width)
	}
	if v.Lval == Computed {
		return v, errors.New("it was computed, and is nowhere")
	}
	return v, nil
}

// cannotWrite says why a register of THIS cannot be written.
func (f *Frame) cannotWrite(r trad.Reg, why error) error {
	name := f.stack.arch.RegName(r)
	if w := f.stack.arch.Wide(r); w != nil && f.stack.arch.Index(r) < 0 {
		name = w.Name
	}
	return fmt.Errorf("write %s of frame %v: %w", name, f, why)
}
