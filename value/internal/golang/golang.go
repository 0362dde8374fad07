package golang

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// Printer writes values of Go as Delve's print does, in one line.
type Printer struct{}

// Name implements value.PrettyPrinter.
func (Printer) Name() string { return "go" }

// For implements value.PrettyPrinter: all of Go's types are its own.
func (Printer) For(t *value.Type) value.Show {
	if t.Language() != "go" {
		return nil
	}
	return show
}

// show has a value written. Of a map, its keys and values are the children, too, which nobody
// writes: expressions look for keys among them.
func show(w *value.Writer, v *value.Value) *value.Shown {
	kind, _ := v.Type.GoKind()
	if w.Short() {
		switch kind {
		case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan:
			n, err := v.Uint()
			if err != nil {
				return nil
			}
			return &value.Shown{Text: "0x" + strconv.FormatUint(n, 16)}
		case reflect.Array, reflect.Interface, reflect.Slice, reflect.Struct, reflect.Invalid:
			return nil
		}
	}
	s := &value.Shown{Write: func(w *value.Writer) { put(w, v, 0, true) }}
	if kind == reflect.Map {
		if next, _, ok := pairs(w, v); ok {
			s.Hint, s.Children = value.AsMap, entries(v, next)
		}
	}
	return s
}

// maxLevel is how many structs and elements deep Delve shows values. What is deeper is an address.
const maxLevel = 1

// put writes a value of Go, which lies level structs and elements deep in another one. typed says
// that the type of a composite value is written before it.
func put(w *value.Writer, v *value.Value, level int, typed bool) {
	if w.Full() {
		return
	}
	if !w.Enter() {
		w.Put("...")
		return
	}
	defer w.Leave()
	v.Parametric()
	kind, t := v.Type.GoKind()
	if lang := t.Language(); lang != "go" && lang != "" {
		w.Part(v)
		return
	}
	if !w.SpendOn(v) {
		return
	}
	if err := v.Err(); err != nil {
		if v.Lost() != nil || kind != reflect.Struct && kind != reflect.Array {
			unreadable(w, err)
			return
		}
	}
	switch kind {
	case reflect.Struct:
		structure(w, v, level, typed)
	case reflect.Array:
		array(w, v, level, typed)
	default:
		if why := v.Missing(); why != nil {
			unreadable(w, why)
			return
		}
		whole(w, v, kind, t, level, typed)
	}
}

// whole writes a value whose parts are no values of their own.
func whole(w *value.Writer, v *value.Value, kind reflect.Kind, t *value.Type, level int, typed bool) {
	switch kind {
	case reflect.Pointer:
		pointer(w, v, level, typed)
	case reflect.UnsafePointer:
		n, _ := v.Uint()
		w.Put("unsafe.Pointer(0x" + strconv.FormatUint(n, 16) + ")")
	case reflect.String:
		text(w, v)
	case reflect.Slice:
		slice(w, v, level, typed)
	case reflect.Map:
		mapOf(w, v, t, level, typed)
	case reflect.Chan:
		channel(w, v)
	case reflect.Interface:
		iface(w, v, level, typed)
	case reflect.Func:
		function(w, v)
	default:
		number(w, v, kind)
	}
}

// unreadable writes why a value is not known, as Delve does where it is to be read.
func unreadable(w *value.Writer, err error) {
	if value.IsAbsent(err) {
		w.Absent(err)
		return
	}
	w.Put("(unreadable " + err.Error() + ")")
}

func number(w *value.Writer, v *value.Value, kind reflect.Kind) {
	b, err := v.Bytes()
	if err != nil {
		unreadable(w, err)
		return
	}
	switch kind {
	case reflect.Bool:
		n, _ := v.Uint()
		w.Put(strconv.FormatBool(n != 0))
	case reflect.Float32, reflect.Float64:
		w.Put(float(v, b))
	case reflect.Complex64, reflect.Complex128:
		w.Put("(" + float(v, b[:len(b)/2]) + " + " + float(v, b[len(b)/2:]) + "i)")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, _ := v.Int()
		integer(w, v, n, strconv.FormatInt(n, 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n, _ := v.Uint()
		integer(w, v, int64(n), strconv.FormatUint(n, 10))
	default:
		w.Put("(unreadable unknown or unsupported kind)")
	}
}

// integer writes an integer, with the constant of its type that it is.
func integer(w *value.Writer, v *value.Value, n int64, text string) {
	if name := v.GoConstant(n); name != "" {
		text = name + " (" + text + ")"
	}
	w.Put(text)
}

// address writes an address as the value of a pointer type: (*main.T)(0xc000012345).
func address(w *value.Writer, star, name string, addr uint64) {
	if strings.Contains(name, "/") {
		name = strconv.Quote(name)
	}
	w.Put("(" + star + name + ")(0x" + strconv.FormatUint(addr, 16) + ")")
}

func pointer(w *value.Writer, v *value.Value, level int, typed bool) {
	addr, _ := v.Uint()
	elem := v.Type.Strip().Elem()
	if addr == 0 {
		w.Put("*")
		if typed {
			w.Put(elem.Name + " ")
		}
		w.Put("nil")
		return
	}
	if v.Converted() {
		address(w, "", v.Type.Name, addr)
		return
	}
	switch kind, _ := elem.GoKind(); kind {
	case reflect.Interface:
		level++
	case reflect.Pointer, reflect.UnsafePointer:
		if level > maxLevel {
			address(w, "", v.Type.Name, addr)
			return
		}
		level++
	}
	w.Put("*")
	to := v.Deref()
	put(w, &to, level, typed)
}
