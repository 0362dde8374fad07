package value

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// wideRegister evaluates the name of a register that is wider than 64 bits, or of its first bytes:
// a union of vectors, as GDB has it. ok is false if the processor has no such register.
func (e *evaluation) wideRegister(name string) (v Value, ok bool) {
	a := e.r.Arch
	for i := range a.WideRegs() {
		w := &a.WideRegs()[i]
		size := 0
		if w.Name == name {
			size = w.Size()
		}
		for _, n := range w.Narrower {
			if n.Name == name {
				size = n.Size
			}
		}
		t := e.r.wideType(w, size)
		if t == nil {
			continue
		}
		v = Value{Type: t, Place: InRegister, Reg: w.Num, frame: e.c, mem: e.c.mem}
		b, err := e.c.oneRegister(w.Num, size)
		if err == nil && len(b) < size {
			err = ErrUnavailable
		}
		if v.err = err; err == nil {
			v.bytes, v.read = append(b[:size:size], make([]byte, t.Size-uint64(size))...), true
		}
		return v, true
	}
	return v, false
}

// wideType returns the type of size bytes of a register; nil if it has none.
func (r *Reader) wideType(w *arch.WideReg, size int) *Type {
	switch elements := r.Arch.GDB().VectorElements; {
	case size == 0:
		return nil
	case r.Arch.IsX87(w.Num):
		return r.basic("long double")
	case size <= 8:
		return r.basic("unsigned long long")
	case elements != nil:
		return r.vectorUnion(elements, uint64(size))
	}
	return nil
}

// vectorUnion returns a union of vectors of size bytes. Its members are named by how many elements
// a vector has, and of which type.
func (r *Reader) vectorUnion(elements []arch.VectorElement, size uint64) *Type {
	union := &Type{Kind: Union, Size: size, Order: r.order(), r: r, elemRead: true, parts: &parts{}}
	for _, x := range elements {
		t := &Type{Kind: Integer, Name: x.Name, Size: uint64(x.Size), Order: r.order(), r: r, elemRead: true, number: true,
			Signed: true, Encoding: dwarfdata.ATESigned}
		if x.Float {
			t.Kind, t.Encoding, t.Signed = Float, dwarfdata.ATEFloat, false
		}
		name, of := fmt.Sprintf("v%d_%s", size/t.Size, x.Name), t
		if t.Size == size {
			t.Signed, t.Encoding = false, dwarfdata.ATEUnsigned
			name = "u" + x.Name
		} else {
			of = r.arrayOf(t, size/t.Size)
			of.Vector = true
		}
		union.parts.fields = append(union.parts.fields, Field{Name: name, Type: of})
	}
	return union
}
