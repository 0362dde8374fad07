package value

import (
	"fmt"
	"strconv"
	"strings"
)

// rust writes a value as GDB does in Rust.
func (w *Writer) rust(v *Value, t *Type) {
	switch t.Kind {
	case Struct, Union:
		if t.Declared {
			w.Put("<incomplete type>")
			return
		}
	case Array:
	case Void:
		w.Put("()")
		return
	case Function:
		w.Put("{" + t.String() + "} ")
		w.Address(v, v.Addr)
		return
	default:
		w.rustScalar(v, t)
		return
	}
	if w.depth >= w.p.depth() {
		w.Put("{...}")
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

func (w *Writer) rustScalar(v *Value, t *Type) {
	n, ok := t.SizeOf()
	if ok && n == 0 && t.Name == "()" {
		w.Put("()")
		return
	}
	if why, _ := v.missing(0, 8*n); ok && why != nil {
		w.Absent(why)
		return
	}
	b, err := v.Bytes()
	if err != nil {
		w.Absent(err)
		return
	}
	switch t.Kind {
	case Integer, Subrange:
		w.Integer(v, b)
	case Char:
		n, _ := v.Uint()
		w.Put(strconv.FormatUint(n, 10) + " ")
		if t.Size == 4 {
			w.Put("'" + rustChar(rune(n)) + "'")
		} else {
			w.Char(v)
		}
	case Pointer:
		w.rustPointer(v, t)
	default:
		w.Scalar(v)
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
func (w *Writer) rustPointer(v *Value, t *Type) {
	addr, _ := v.Uint()
	a := t.Elem().Strip()
	if a.Kind != Array || !a.Elem().Strip().isU8() || !a.Bounds().Known {
		w.Address(v, addr)
		return
	}
	w.Put("0x" + strconv.FormatUint(addr, 16) + " b")
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
func (w *Writer) rustText(v *Value, elem *Type, addr, n uint64) {
	limit := min(n, uint64(w.p.elements()), maxRead)
	b := make([]byte, limit)
	got := len(b)
	if err := v.ReadMemory(addr, b); err != nil {
		if b, _ = readText(v, addr, 1, limit); uint64(len(b)) < limit { // as far as it is readable
			got = len(b)
		}
		b = b[:got]
		if got == 0 {
			w.Put("<error: " + (&MemoryError{addr}).Error() + ">")
			return
		}
		w.quoted(b, w.classOf(elem), true)
		w.Put("<error: " + (&MemoryError{addr}).Error() + ">")
		return
	}
	w.quoted(b, w.classOf(elem), limit < n)
}

func (w *Writer) rustArray(v *Value, t *Type) {
	elem := t.Elem()
	b := t.Bounds()
	size, ok := elem.SizeOf()
	switch {
	case b.Known && b.Count == 0:
		w.Put("[]")
	case !b.Known, ok && size == 0: // GDB has it as a pointer to the first element
		w.Address(v, v.Addr)
	default:
		w.Put("[")
		w.elements(b.Count, func(i uint64) Value { return v.Index(i) }, func(x *Value) { w.Part(x) })
		w.Put("]")
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
func (w *Writer) rustSlice(v *Value, t *Type) {
	elem, addr, n, err := v.slice()
	if err != nil {
		w.Absent(err)
		return
	}
	if t.Name == "&str" {
		w.rustText(v, elem, addr, n)
		return
	}
	w.Put(t.FullName() + " ")
	if n == 0 {
		w.Put("[]")
		return
	}
	size, _ := elem.SizeOf()
	if size == 0 {
		w.Put("0x" + strconv.FormatUint(addr, 16))
		return
	}
	if n > maxObject/size {
		w.Absent(ErrTooLarge)
		return
	}
	first := v.At(elem, addr)
	if err := first.Err(); err != nil {
		w.Absent(err)
		return
	}
	w.Put("[")
	w.elements(n, func(i uint64) Value { return v.At(elem, addr+i*size) }, func(x *Value) { w.Part(x) })
	w.Put("]")
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
func (w *Writer) rustStruct(v *Value, t *Type) {
	tuple := t.isTuple()
	fields := t.Fields()
	if !tuple {
		w.Put(t.FullName())
		if len(fields) == 0 {
			return
		}
		w.Put(" ")
	}
	w.rustMembers(v, fields, tuple || t.isTupleStruct())
}

func (w *Writer) rustMembers(v *Value, fields []Field, tuple bool) {
	open, closing := "{", "}"
	if tuple {
		open, closing = "(", ")"
	}
	w.Put(open)
	first := true
	for i := range fields {
		f := &fields[i]
		if f.Static || w.full {
			continue
		}
		if !first {
			w.Put(", ")
		}
		first = false
		if !tuple {
			w.Put(f.Name + ": ")
		}
		m := v.Field(f)
		w.Part(&m)
	}
	w.Put(closing)
}

// rustEnum writes an enumeration with data: Name::Variant(1), Name::Variant{a: 1}.
func (w *Writer) rustEnum(v *Value, t *Type) {
	_, is, ok, err := v.Variant()
	switch {
	case !ok:
		w.Put(t.FullName() + " {<No data fields>}")
		return
	case err != nil:
		w.Absent(err)
		return
	}
	s := is.Type.Strip()
	w.Put(s.FullName())
	if fields := s.Fields(); len(fields) > 0 {
		w.rustMembers(&is, fields, s.isTupleStruct())
	}
}
