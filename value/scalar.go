package value

import (
	"errors"
	"strconv"
)

// Scalar writes a value that is neither a struct nor an array.
func (w *Writer) Scalar(v *Value) {
	t := v.Type.Strip()
	b, err := v.Bytes()
	if err != nil {
		w.Absent(err)
		return
	}
	switch t.Kind {
	case Bool:
		n, _ := v.Uint()
		switch n {
		case 0:
			w.Put("false")
		case 1:
			w.Put("true")
		default:
			w.unsigned(n, 10)
		}
	case Integer, Char:
		if t.IsFixedPoint() {
			w.Put(t.fixedText(v))
			return
		}
		w.Integer(v, b)
		if w.textual(v.Type) {
			w.Put(" ")
			w.Char(v)
		}
	case Subrange:
		w.Integer(v, b)
	case Float:
		w.Put(t.FloatText(b))
	case Complex:
		w.complex(v, t, b)
	case Enum:
		w.enum(v, t)
	case Pointer:
		w.pointer(v, t)
	case Reference, RvalueReference:
		w.reference(v, false)
	case MemberPointer:
		w.memberPointer(v, t)
	case Unspecified:
		n, _ := v.Uint()
		w.hex(n)
	case Unknown:
		if t.Name == "" {
			w.Put("<unknown type>")
			break
		}
		w.Put(t.Name) // as GDB does
	default:
		w.Put("<unknown type>")
	}
}

// Integer writes a number of any size, whose bytes are b, in decimal.
func (w *Writer) Integer(v *Value, b []byte) {
	if len(b) <= 8 {
		if t := v.Type.Strip(); t.isSigned() {
			n, _ := v.Int()
			w.number(n)
		} else {
			n, _ := v.Uint()
			w.unsigned(n, 10)
		}
		return
	}
	w.Put(bigNumber(b, v.Type.ByteOrder() == bigEndian, v.Type.Strip().isSigned()).String())
}

// enum writes a value of an enumeration, by name if it has one; flags as "(A | B)".
func (w *Writer) enum(v *Value, t *Type) {
	n, _ := v.Int()
	size, _ := t.SizeOf()
	list := t.Enumerators()
	for _, e := range list {
		if e.Value == n {
			w.Put(e.Name)
			return
		}
	}
	if !t.read().flags {
		if t.isSigned() || size == 8 { // GDB has one type for all
			w.number(n)
		} else {
			w.unsigned(uint64(n), 10)
		}
		return
	}
	left := uint64(n)
	if size < 8 {
		left &= 1<<(8*size) - 1
	}
	first := true
	for _, e := range list {
		if bits := uint64(e.Value); bits != 0 && left&bits != 0 {
			if first {
				w.Put("(")
			} else {
				w.Put(" | ")
			}
			first = false
			left &^= bits
			w.Put(e.Name)
		}
	}
	switch {
	case left != 0 && first:
		w.Put("(unknown: 0x" + strconv.FormatUint(left, 16) + ")")
	case left != 0:
		w.Put(" | unknown: 0x" + strconv.FormatUint(left, 16) + ")")
	case first:
		w.Put("0")
	default:
		w.Put(")")
	}
}

// pointer writes a pointer: its address, the symbol there, and the text that it points to.
func (w *Writer) pointer(v *Value, t *Type) {
	addr, _ := v.Uint()
	w.Address(v, addr)
	elem := t.Elem()
	if addr != 0 && elem.bare().Kind != Function && w.textual(elem) {
		w.Put(" ")
		w.stringAt(v, elem, addr)
	}
}

// Address writes an address, with the name of the function or variable there.
func (w *Writer) Address(v *Value, addr uint64) {
	w.hex(addr)
	if w.p.NoSymbols {
		return
	}
	r := v.Type.r
	if name, off, ok := r.SymbolAt(addr); ok {
		w.Put(" <")
		w.Put(name)
		if off != 0 {
			w.Put("+")
			w.unsigned(off, 10)
		}
		w.Put(">")
	}
}

// reference writes "@0x…"; and, if deref is set, the object.
func (w *Writer) reference(v *Value, deref bool) {
	if err := v.Err(); err != nil && !errors.Is(err, ErrSynthetic) {
		w.Absent(err)
		return
	}
	synthetic := v.Err() != nil
	to := v.Deref()
	if deref && to.Place == InMemory {
		if err := to.Err(); err != nil && !IsAbsent(err) && !errors.Is(err, ErrTooLarge) {
			w.Put("<error reading variable: " + err.Error() + ">")
			return
		}
	}
	if synthetic {
		if to.Place != InMemory {
			w.Put("<synthetic pointer>")
			if !deref {
				return
			}
			w.Put(": ")
			w.value(&to)
			return
		}
		w.Put("@")
		w.hex(to.Addr)
	} else {
		addr, _ := v.Uint()
		w.Put("@")
		w.hex(addr)
	}
	if deref {
		w.Put(": ")
		w.value(&to)
	}
}
