package value

import (
	"errors"
	"strconv"
)

// scalar writes a value that is neither a struct nor an array.
func (w *writer) scalar(v *Value, t *Type) {
	b, err := v.Bytes()
	if err != nil {
		w.absent(err)
		return
	}
	switch t.Kind {
	case Bool:
		n, _ := v.Uint()
		switch n {
		case 0:
			w.put("false")
		case 1:
			w.put("true")
		default:
			w.unsigned(n, 10)
		}
	case Integer, Char:
		if t.fixedPoint() {
			w.put(t.fixedText(v))
			return
		}
		w.integer(v, b)
		if w.textual(v.Type) {
			w.put(" ")
			w.char(v)
		}
	case Subrange:
		w.integer(v, b)
	case Float:
		w.put(t.floatText(b))
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
			w.put("<unknown type>")
			break
		}
		w.put(t.Name) // as GDB does
	default:
		w.put("<unknown type>")
	}
}

// integer writes a number of any size.
func (w *writer) integer(v *Value, b []byte) {
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
	w.put(bigNumber(b, v.Type.order() == bigEndian, v.Type.Strip().isSigned()).String())
}

// enum writes a value of an enumeration, by name if it has one; flags as "(A | B)".
func (w *writer) enum(v *Value, t *Type) {
	n, _ := v.Int()
	size, _ := t.size()
	list := t.Enumerators()
	for _, e := range list {
		if e.Value == n {
			w.put(e.Name)
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
				w.put("(")
			} else {
				w.put(" | ")
			}
			first = false
			left &^= bits
			w.put(e.Name)
		}
	}
	switch {
	case left != 0 && first:
		w.put("(unknown: 0x" + strconv.FormatUint(left, 16) + ")")
	case left != 0:
		w.put(" | unknown: 0x" + strconv.FormatUint(left, 16) + ")")
	case first:
		w.put("0")
	default:
		w.put(")")
	}
}

// pointer writes a pointer: its address, the symbol there, and the text that it points to.
func (w *writer) pointer(v *Value, t *Type) {
	addr, _ := v.Uint()
	w.address(v, addr)
	elem := t.Elem()
	if addr != 0 && elem.bare().Kind != Function && w.textual(elem) {
		w.put(" ")
		w.stringAt(v, elem, addr)
	}
}

// address writes an address, with the name of the function or variable there.
func (w *writer) address(v *Value, addr uint64) {
	w.hex(addr)
	if w.p.NoSymbols {
		return
	}
	r := v.Type.r
	if name, off, ok := r.symbolAt(addr); ok {
		w.put(" <")
		w.put(name)
		if off != 0 {
			w.put("+")
			w.unsigned(off, 10)
		}
		w.put(">")
	}
}

// reference writes "@0x…"; and, if deref is set, the object.
func (w *writer) reference(v *Value, deref bool) {
	if err := v.Err(); err != nil && !errors.Is(err, ErrSynthetic) {
		w.absent(err)
		return
	}
	synthetic := v.Err() != nil
	to := v.Deref()
	if deref && to.Place == InMemory {
		if err := to.Err(); err != nil && !isGone(err) && !errors.Is(err, ErrTooLarge) {
			w.put("<error reading variable: " + err.Error() + ">")
			return
		}
	}
	if synthetic {
		if to.Place != InMemory {
			w.put("<synthetic pointer>")
			if !deref {
				return
			}
			w.put(": ")
			w.value(&to)
			return
		}
		w.put("@")
		w.hex(to.Addr)
	} else {
		addr, _ := v.Uint()
		w.put("@")
		w.hex(addr)
	}
	if deref {
		w.put(": ")
		w.value(&to)
	}
}
