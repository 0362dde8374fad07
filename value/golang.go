package value

import (
	"debug/dwarf"
	"strconv"
	"strings"
)

// Attributes of Go's compiler and linker.
const (
	attrGoKind  dwarf.Attr = 0x2900
	attrGoKey   dwarf.Attr = 0x2901
	attrGoElem  dwarf.Attr = 0x2902
	attrGoType  dwarf.Attr = 0x2904 // offset of the type's description in the program, from runtime.types
	attrGoIndex dwarf.Attr = 0x2906 // of a type parameter: its index in the function's dictionary
)

// goKind is a kind of types as package reflect has it.
type goKind uint8

const (
	goBool goKind = 1 + iota
	goInt
	goInt8
	goInt16
	goInt32
	goInt64
	goUint
	goUint8
	goUint16
	goUint32
	goUint64
	goUintptr
	goFloat32
	goFloat64
	goComplex64
	goComplex128
	goArray
	goChan
	goFunc
	goInterface
	goMap
	goPointer
	goSlice
	goString
	goStruct
	goUnsafePointer
)

// goKindOf returns the kind of a type, and which of the types that t is another name of has it.
func goKindOf(t *Type) (goKind, *Type) {
	at := t
	for range maxNames {
		if at.entry != nil {
			if n, ok := at.entry.Constant(attrGoKind); ok && n > 0 && n <= uint64(goUnsafePointer) {
				if goKind(n) == goPointer && at.Elem().Kind == Void {
					return goUnsafePointer, at
				}
				return goKind(n), at
			}
		}
		if at.Kind != Typedef {
			break
		}
		at = at.Elem()
	}
	switch at = at.Strip(); at.Kind {
	case Bool:
		return goBool, at
	case Integer, Char:
		if at.Signed {
			return goInt, at
		}
		return goUint, at
	case Float:
		return goFloat64, at
	case Complex:
		return goComplex128, at
	case Array:
		return goArray, at
	case Function:
		return goFunc, at
	case Struct:
		return goStruct, at
	case Pointer:
		if at.Elem().Kind == Void {
			return goUnsafePointer, at
		}
		return goPointer, at
	}
	return 0, at
}

// maxGoDepth bounds values within each other where the Printer has no bound.
const maxGoDepth = 100

// maxGoLevel is how many structs and elements deep Delve shows values. What is deeper is an address.
const maxGoLevel = 1

// goLibrary writes a value of Go as Delve's print does, in one line.
func (w *Writer) goLibrary(v *Value, t *Type) bool {
	if w.summary {
		switch kind, _ := goKindOf(v.Type); kind {
		case goPointer, goUnsafePointer, goMap, goChan:
			n, err := v.Uint()
			if err != nil {
				return false
			}
			w.Put("0x" + strconv.FormatUint(n, 16))
			return true
		case goArray, goInterface, goSlice, goStruct, 0:
			return false
		}
	}
	w.goValue(v, 0, true)
	return true
}

// goScalar reports whether values of the type are of Go, and that GDB counts them as scalars.
func (t *Type) goScalar() bool { return t.scalar() && t.Language() == "go" }

// goValue writes a value of Go, which lies level structs and elements deep in another one. typed says that the type of a
// composite value is written before it.
func (w *Writer) goValue(v *Value, level int, typed bool) {
	if w.full {
		return
	}
	if w.depth >= min(w.p.depth(), maxGoDepth) {
		w.Put("...")
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	v.parametric()
	kind, t := goKindOf(v.Type)
	if lang := t.Language(); lang != "go" && lang != "" {
		w.Part(v)
		return
	}
	if n, ok := v.size(); v.bytes == nil && ok && !w.Spend(int(min(n, maxRead))) {
		return
	}
	if err := v.Err(); err != nil {
		if v.err != nil || kind != goStruct && kind != goArray {
			w.goUnreadable(err)
			return
		}
	}
	switch kind {
	case goStruct:
		w.goStruct(v, level, typed)
	case goArray:
		w.goArray(v, level, typed)
	default:
		if n, ok := v.size(); ok {
			if why, _ := v.missing(0, 8*n); why != nil {
				w.goUnreadable(why)
				return
			}
		}
		w.goWhole(v, kind, t, level, typed)
	}
}

// goWhole writes a value whose parts are no values of their own.
func (w *Writer) goWhole(v *Value, kind goKind, t *Type, level int, typed bool) {
	switch kind {
	case goPointer:
		w.goPointer(v, level, typed)
	case goUnsafePointer:
		n, _ := v.Uint()
		w.Put("unsafe.Pointer(0x" + strconv.FormatUint(n, 16) + ")")
	case goString:
		w.goString(v)
	case goSlice:
		w.goSlice(v, level, typed)
	case goMap:
		w.goMap(v, t, level, typed)
	case goChan:
		w.goChan(v)
	case goInterface:
		w.goInterface(v, level, typed)
	case goFunc:
		w.goFunc(v)
	default:
		w.goNumber(v, kind)
	}
}

// goUnreadable writes why a value is not known, as Delve does where it is to be read.
func (w *Writer) goUnreadable(err error) {
	if Gone(err) {
		w.Absent(err)
		return
	}
	w.Put("(unreadable " + err.Error() + ")")
}

func (w *Writer) goNumber(v *Value, kind goKind) {
	b, err := v.Bytes()
	if err != nil {
		w.goUnreadable(err)
		return
	}
	big := v.Type.ByteOrder() == bigEndian
	switch kind {
	case goBool:
		n, _ := v.Uint()
		w.Put(strconv.FormatBool(n != 0))
	case goFloat32, goFloat64:
		w.Put(goFloat(b, big))
	case goComplex64, goComplex128:
		w.Put("(" + goFloat(b[:len(b)/2], big) + " + " + goFloat(b[len(b)/2:], big) + "i)")
	case goInt, goInt8, goInt16, goInt32, goInt64:
		n, _ := v.Int()
		w.goInteger(v, n, strconv.FormatInt(n, 10))
	case goUint, goUint8, goUint16, goUint32, goUint64, goUintptr:
		n, _ := v.Uint()
		w.goInteger(v, int64(n), strconv.FormatUint(n, 10))
	default:
		w.Put("(unreadable unknown or unsupported kind)")
	}
}

// goInteger writes an integer, with the constant of its type that it is.
func (w *Writer) goInteger(v *Value, n int64, text string) {
	if name := v.goConstant(n); name != "" {
		text = name + " (" + text + ")"
	}
	w.Put(text)
}

// goTypeName returns a type's name as it stands before a value.
func goTypeName(t *Type) string { return t.Name }

// goAddress writes an address as the value of a pointer type: (*main.T)(0xc000012345).
func (w *Writer) goAddress(star, name string, addr uint64) {
	if strings.Contains(name, "/") {
		name = strconv.Quote(name)
	}
	w.Put("(" + star + name + ")(0x" + strconv.FormatUint(addr, 16) + ")")
}

func (w *Writer) goPointer(v *Value, level int, typed bool) {
	addr, _ := v.Uint()
	elem := v.Type.Strip().Elem()
	if addr == 0 {
		w.Put("*")
		if typed {
			w.Put(goTypeName(elem) + " ")
		}
		w.Put("nil")
		return
	}
	if v.bare {
		w.goAddress("", goTypeName(v.Type), addr)
		return
	}
	switch kind, _ := goKindOf(elem); kind {
	case goInterface:
		level++
	case goPointer, goUnsafePointer:
		if level > maxGoLevel {
			w.goAddress("", goTypeName(v.Type), addr)
			return
		}
		level++
	}
	w.Put("*")
	to := v.Deref()
	w.goValue(&to, level, typed)
}
