package rust

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// Write writes a value as GDB does in Rust.
func Write(w *value.Writer, v *value.Value) bool {
	switch t := v.Type.Strip(); t.Kind {
	case value.Struct, value.Union, value.Array:
		composite(w, v, t)
	case value.Void:
		w.Put("()")
	case value.Function:
		w.Put("{" + t.String() + "} ")
		w.Address(v, v.Addr)
	default:
		scalar(w, v, t)
	}
	return true
}

func composite(w *value.Writer, v *value.Value, t *value.Type) {
	switch {
	case t.Kind != value.Array && t.Declared:
		w.Put("<incomplete type>")
		return
	case !w.Enter():
		w.Put("{...}")
		return
	}
	defer w.Leave()
	switch {
	case t.Kind == value.Array:
		array(w, v, t)
	case t.HasVariants():
		enum(w, v, t)
	case isSlice(t):
		putSlice(w, v, t)
	default:
		structure(w, v, t)
	}
}

func scalar(w *value.Writer, v *value.Value, t *value.Type) {
	n, ok := t.SizeOf()
	if ok && n == 0 && t.Name == "()" {
		w.Put("()")
		return
	}
	b, err := v.Bytes()
	if err != nil {
		w.Absent(err)
		return
	}
	switch t.Kind {
	case value.Integer, value.Subrange:
		w.Integer(v, b)
	case value.Char:
		n, _ := v.Uint()
		w.Put(strconv.FormatUint(n, 10) + " ")
		if t.Size == 4 {
			w.Put("'" + char(rune(n)) + "'")
		} else {
			w.Char(v)
		}
	case value.Pointer:
		pointer(w, v, t)
	default:
		w.Scalar(v)
	}
}

// char returns a character in the way of Rust's literals.
func char(c rune) string {
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

// pointer writes a pointer: its address, and the bytes of a text of bytes.
func pointer(w *value.Writer, v *value.Value, t *value.Type) {
	addr, _ := v.Uint()
	a := t.Elem().Strip()
	if a.Kind != value.Array || !isU8(a.Elem().Strip()) || !a.Bounds().Known {
		w.Address(v, addr)
		return
	}
	w.Put("0x" + strconv.FormatUint(addr, 16) + " b")
	w.ASCII(func() { w.TextAt(v, a.Elem(), addr, a.Bounds().Count) })
}

// isU8 reports whether a type is u8, as the characters of a str are.
func isU8(t *value.Type) bool { return t.Kind == value.Integer && !t.Signed && t.Size == 1 }

func array(w *value.Writer, v *value.Value, t *value.Type) {
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
		w.Elements(b.Count, v.Index)
		w.Put("]")
	}
}

// isSlice reports whether a type is a pointer to elements, and their number.
func isSlice(t *value.Type) bool {
	f := t.Fields()
	return t.Kind == value.Struct && t.Name != "" && len(f) == 2 &&
		(f[0].Name == "data_ptr" && f[1].Name == "length" || f[0].Name == "length" && f[1].Name == "data_ptr")
}

// slice returns the elements of a slice.
func slice(v *value.Value) (run value.Run, err error) {
	data, _ := v.Member("data_ptr")
	length, _ := v.Member("length")
	if run.Addr, err = data.Uint(); err != nil {
		return run, err
	}
	n, err := length.Uint()
	if err != nil {
		return run, err
	}
	run.Elem, run.Len, run.Cap = data.Type.Strip().Elem(), int64(n), int64(n)
	return run, nil
}

// putSlice writes a slice: a str as a text, others as an array behind their type.
func putSlice(w *value.Writer, v *value.Value, t *value.Type) {
	run, err := slice(v)
	if err != nil {
		w.Absent(err)
		return
	}
	elem, addr, n := run.Elem, run.Addr, uint64(run.Len)
	if t.Name == "&str" {
		w.TextAt(v, elem, addr, n)
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
	const most = 1 << 47
	if n > most/size {
		w.Absent(value.ErrTooLarge)
		return
	}
	first := v.At(elem, addr)
	if err := first.Err(); err != nil {
		w.Absent(err)
		return
	}
	w.Put("[")
	w.Elements(n, func(i uint64) value.Value { return v.At(elem, addr+i*size) })
	w.Put("]")
}

// isTuple reports whether a type is a tuple: by its name, as nothing else tells them from structs.
func isTuple(t *value.Type) bool { return strings.HasPrefix(t.Name, "(") }

// isTupleStruct reports whether the members of a struct have numbers for names.
func isTupleStruct(t *value.Type) bool {
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
	return len(fields) > 0 && t.Kind == value.Struct
}

// structure writes a struct, a union, or a tuple: Name {a: 1}, Name (1), (1, 2).
func structure(w *value.Writer, v *value.Value, t *value.Type) {
	tuple := isTuple(t)
	fields := t.Fields()
	if !tuple {
		w.Put(t.FullName())
		if len(fields) == 0 {
			return
		}
		w.Put(" ")
	}
	members(w, v, fields, tuple || isTupleStruct(t))
}

func members(w *value.Writer, v *value.Value, fields []value.Field, tuple bool) {
	open, closing := "{", "}"
	if tuple {
		open, closing = "(", ")"
	}
	w.Put(open)
	first := true
	for i := range fields {
		f := &fields[i]
		if f.Static || w.Full() {
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

// enum writes an enumeration with data: Name::Variant(1), Name::Variant{a: 1}.
func enum(w *value.Writer, v *value.Value, t *value.Type) {
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
		members(w, &is, fields, isTupleStruct(s))
	}
}
