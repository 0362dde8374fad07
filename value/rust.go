package value

import (
	"fmt"
	"strconv"
	"strings"
)

// rust writes a value as GDB does in Rust.
func (w *writer) rust(v *Value, t *Type) {
	switch t.Kind {
	case Struct, Union:
		if t.Declared {
			w.put("<incomplete type>")
			return
		}
	case Array:
	case Void:
		w.put("()")
		return
	case Function:
		w.put("{" + t.String() + "} ")
		w.address(v, v.Addr)
		return
	default:
		w.rustScalar(v, t)
		return
	}
	if w.depth >= w.p.depth() {
		w.put("{...}")
		return
	}
	w.depth++
	switch {
	case t.Kind == Array:
		w.rustArray(v, t)
	case t.read().variant != nil:
		w.rustEnum(v, t)
	case t.isSlice():
		w.rustSlice(v, t)
	default:
		w.rustStruct(v, t)
	}
	w.depth--
}

func (w *writer) rustScalar(v *Value, t *Type) {
	n, ok := t.size()
	if ok && n == 0 && t.Name == "()" {
		w.put("()")
		return
	}
	if why, _ := v.missing(0, 8*n); ok && why != nil {
		w.absent(why)
		return
	}
	b, err := v.Bytes()
	if err != nil {
		w.absent(err)
		return
	}
	switch t.Kind {
	case Integer, Subrange:
		w.integer(v, b)
	case Char:
		n, _ := v.Uint()
		w.put(strconv.FormatUint(n, 10) + " ")
		if t.Size == 4 {
			w.put("'" + rustChar(rune(n)) + "'")
		} else {
			w.char(v)
		}
	case Pointer:
		w.rustPointer(v, t)
	default:
		w.scalar(v, t)
	}
}

// rustChar returns a character in the way of Rust's literals.
func rustChar(c rune) string {
	switch {
	case c == '\\' || c == '\'':
		return `\` + string(c)
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	case c == 0:
		return `\0`
	case c >= ' ' && c < 0x7f:
		return string(c)
	case c >= 0 && c <= 0xff:
		return fmt.Sprintf(`\x%02x`, c)
	}
	return fmt.Sprintf(`\u{%06x}`, uint32(c))
}

// rustPointer writes a pointer: its address, and the bytes of a text of bytes.
func (w *writer) rustPointer(v *Value, t *Type) {
	addr, _ := v.Uint()
	a := t.Elem().Strip()
	if a.Kind != Array || !a.Elem().Strip().isU8() || !a.Bounds().Known {
		w.address(v, addr)
		return
	}
	w.put("0x" + strconv.FormatUint(addr, 16) + " b")
	ascii := *w.p
	ascii.UTF8 = false
	p := w.p
	w.p = &ascii
	w.rustText(v, a.Elem(), addr, a.Bounds().Count)
	w.p = p
}

// isU8 reports whether a type is u8, as the characters of a str are.
func (t *Type) isU8() bool { return t.Kind == Integer && !t.Signed && t.Size == 1 }

// rustText writes a text of n bytes at an address.
func (w *writer) rustText(v *Value, elem *Type, addr, n uint64) {
	limit := min(n, uint64(w.p.elements()), maxRead)
	b := make([]byte, limit)
	got := len(b)
	if err := v.readMemory(addr, b); err != nil {
		if b, _ = readText(v, addr, 1, limit); uint64(len(b)) < limit { // as far as it is readable
			got = len(b)
		}
		b = b[:got]
		if got == 0 {
			w.put("<error: " + (&MemoryError{addr}).Error() + ">")
			return
		}
		w.quoted(b, w.classOf(elem), true)
		w.put("<error: " + (&MemoryError{addr}).Error() + ">")
		return
	}
	w.quoted(b, w.classOf(elem), limit < n)
}

func (w *writer) rustArray(v *Value, t *Type) {
	elem := t.Elem()
	b := t.Bounds()
	size, ok := elem.size()
	switch {
	case b.Known && b.Count == 0:
		w.put("[]")
	case !b.Known, ok && size == 0: // GDB has it as a pointer to the first element
		w.address(v, v.Addr)
	default:
		w.put("[")
		w.elements(b.Count, func(i uint64) Value { return v.Index(i) }, func(x *Value) { w.part(x) })
		w.put("]")
	}
}

// isSlice reports whether a type is a pointer to elements, and their number.
func (t *Type) isSlice() bool {
	f := t.Fields()
	return t.Kind == Struct && t.Name != "" && len(f) == 2 &&
		(f[0].Name == "data_ptr" && f[1].Name == "length" || f[0].Name == "length" && f[1].Name == "data_ptr")
}

// named returns the member of a name.
func (v *Value) named(name string) (m Value, ok bool) {
	fields := v.Type.Strip().Fields()
	for i := range fields {
		if f := &fields[i]; f.Name == name && !f.Base && !f.Static {
			return v.Field(f), true
		}
	}
	return Value{}, false
}

// slice returns the address of the elements of a slice, their type, and their number.
func (v *Value) slice() (elem *Type, addr, n uint64, err error) {
	data, _ := v.named("data_ptr")
	length, _ := v.named("length")
	if addr, err = data.Uint(); err != nil {
		return nil, 0, 0, err
	}
	if n, err = length.Uint(); err != nil {
		return nil, 0, 0, err
	}
	return data.Type.Strip().Elem(), addr, n, nil
}

// rustSlice writes a slice: a str as a text, others as an array behind their type.
func (w *writer) rustSlice(v *Value, t *Type) {
	elem, addr, n, err := v.slice()
	if err != nil {
		w.absent(err)
		return
	}
	if t.Name == "&str" {
		w.rustText(v, elem, addr, n)
		return
	}
	w.put(t.FullName() + " ")
	if n == 0 {
		w.put("[]")
		return
	}
	size, _ := elem.size()
	if size == 0 {
		w.put("0x" + strconv.FormatUint(addr, 16))
		return
	}
	if n > maxObject/size {
		w.absent(ErrTooLarge)
		return
	}
	first := v.at(elem, addr)
	if err := first.Err(); err != nil {
		w.absent(err)
		return
	}
	w.put("[")
	w.elements(n, func(i uint64) Value { return v.at(elem, addr+i*size) }, func(x *Value) { w.part(x) })
	w.put("]")
}

// isTuple reports whether a type is a tuple: by its name, as nothing else tells them from structs.
func (t *Type) isTuple() bool { return strings.HasPrefix(t.Name, "(") }

// isTupleStruct reports whether the members of a struct have numbers for names.
func (t *Type) isTupleStruct() bool {
	fields := t.Fields()
	n := 0
	for i := range fields {
		if fields[i].Static {
			continue
		}
		if fields[i].Name != "__"+strconv.Itoa(n) {
			return false
		}
		n++
	}
	return len(fields) > 0 && t.Kind == Struct
}

// rustStruct writes a struct, a union, or a tuple: Name {a: 1}, Name (1), (1, 2).
func (w *writer) rustStruct(v *Value, t *Type) {
	tuple := t.isTuple()
	fields := t.Fields()
	if !tuple {
		w.put(t.FullName())
		if len(fields) == 0 {
			return
		}
		w.put(" ")
	}
	w.rustMembers(v, fields, tuple || t.isTupleStruct())
}

func (w *writer) rustMembers(v *Value, fields []Field, tuple bool) {
	open, closing := "{", "}"
	if tuple {
		open, closing = "(", ")"
	}
	w.put(open)
	first := true
	for i := range fields {
		f := &fields[i]
		if f.Static || w.full {
			continue
		}
		if !first {
			w.put(", ")
		}
		first = false
		if !tuple {
			w.put(f.Name + ": ")
		}
		m := v.Field(f)
		w.part(&m)
	}
	w.put(closing)
}

// rustEnum writes an enumeration with data: Name::Variant(1), Name::Variant{a: 1}.
func (w *writer) rustEnum(v *Value, t *Type) {
	_, is, ok, err := v.Variant()
	switch {
	case !ok:
		w.put(t.FullName() + " {<No data fields>}")
		return
	case err != nil:
		w.absent(err)
		return
	}
	s := is.Type.Strip()
	w.put(s.FullName())
	if fields := s.Fields(); len(fields) > 0 {
		w.rustMembers(&is, fields, s.isTupleStruct())
	}
}
