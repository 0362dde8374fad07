package value

import (
	"debug/dwarf"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
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
func (w *writer) goLibrary(v *Value, t *Type) bool {
	if w.summary {
		switch kind, _ := goKindOf(v.Type); kind {
		case goPointer, goUnsafePointer, goMap, goChan:
			n, err := v.Uint()
			if err != nil {
				return false
			}
			w.put("0x" + strconv.FormatUint(n, 16))
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
func (w *writer) goValue(v *Value, level int, typed bool) {
	if w.full {
		return
	}
	if w.depth >= min(w.p.depth(), maxGoDepth) {
		w.put("...")
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	v.parametric()
	kind, t := goKindOf(v.Type)
	if lang := t.Language(); lang != "go" && lang != "" {
		w.part(v)
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
func (w *writer) goWhole(v *Value, kind goKind, t *Type, level int, typed bool) {
	switch kind {
	case goPointer:
		w.goPointer(v, level, typed)
	case goUnsafePointer:
		n, _ := v.Uint()
		w.put("unsafe.Pointer(0x" + strconv.FormatUint(n, 16) + ")")
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
func (w *writer) goUnreadable(err error) {
	if isGone(err) {
		w.absent(err)
		return
	}
	w.put("(unreadable " + err.Error() + ")")
}

func (w *writer) goNumber(v *Value, kind goKind) {
	b, err := v.Bytes()
	if err != nil {
		w.goUnreadable(err)
		return
	}
	big := v.Type.order() == bigEndian
	switch kind {
	case goBool:
		n, _ := v.Uint()
		w.put(strconv.FormatBool(n != 0))
	case goFloat32, goFloat64:
		w.put(goFloat(b, big))
	case goComplex64, goComplex128:
		w.put("(" + goFloat(b[:len(b)/2], big) + " + " + goFloat(b[len(b)/2:], big) + "i)")
	case goInt, goInt8, goInt16, goInt32, goInt64:
		n, _ := v.Int()
		w.goInteger(v, n, strconv.FormatInt(n, 10))
	case goUint, goUint8, goUint16, goUint32, goUint64, goUintptr:
		n, _ := v.Uint()
		w.goInteger(v, int64(n), strconv.FormatUint(n, 10))
	default:
		w.put("(unreadable unknown or unsupported kind)")
	}
}

// goInteger writes an integer, with the constant of its type that it is.
func (w *writer) goInteger(v *Value, n int64, text string) {
	if name := v.goConstant(n); name != "" {
		text = name + " (" + text + ")"
	}
	w.put(text)
}

// goTypeName returns a type's name as it stands before a value.
func goTypeName(t *Type) string { return t.Name }

// goAddress writes an address as the value of a pointer type: (*main.T)(0xc000012345).
func (w *writer) goAddress(name string, addr uint64) {
	if strings.Contains(name, "/") {
		name = strconv.Quote(name)
	}
	w.put("(" + name + ")(0x" + strconv.FormatUint(addr, 16) + ")")
}

func (w *writer) goPointer(v *Value, level int, typed bool) {
	addr, _ := v.Uint()
	elem := v.Type.Strip().Elem()
	if addr == 0 {
		w.put("*")
		if typed {
			w.put(goTypeName(elem) + " ")
		}
		w.put("nil")
		return
	}
	switch kind, _ := goKindOf(elem); kind {
	case goInterface:
		level++
	case goPointer, goUnsafePointer:
		if level > maxGoLevel {
			w.goAddress(goTypeName(v.Type), addr)
			return
		}
		level++
	}
	w.put("*")
	to := v.Deref()
	w.goValue(&to, level, typed)
}

// word returns a word within a value.
func (v *Value) word(i int) (uint64, error) {
	size := v.Type.r.Arch.PtrSize
	p := v.part(v.Type, int64(i*size), uint64(size))
	return p.Uint()
}

func (w *writer) goString(v *Value) {
	addr, err := v.word(0)
	length, err2 := v.word(1)
	switch n := int64(length); {
	case err != nil || err2 != nil:
		w.goUnreadable(ErrUnavailable)
	case n < 0:
		w.put("(unreadable invalid length: " + strconv.FormatInt(n, 10) + ")")
	case n == 0:
		w.put(`""`)
	default:
		b := make([]byte, min(length, uint64(w.p.elements()), maxRead))
		if err := v.readMemory(addr, b); err != nil {
			w.put("(unreadable could not read string at 0x" + strconv.FormatUint(addr, 16) + " due to " + err.Error() + ")")
			return
		}
		text := string(b)
		if more := length - uint64(len(b)); more > 0 {
			text += "...+" + strconv.FormatUint(more, 10) + " more"
		}
		w.put(strconv.Quote(text))
	}
}

// goElements writes n elements.
func (w *writer) goElements(n uint64, at func(i uint64) Value, level int) {
	w.put("[")
	i := uint64(0)
	limit := uint64(w.p.elements())
	wrong := 0
	for ; i < n && i < limit && !w.full && wrong <= maxGoWrong; i++ {
		if i > 0 {
			w.put(",")
		}
		x := at(i)
		w.goValue(&x, level+1, false)
		if x.err != nil {
			wrong++
		}
	}
	if i < n {
		if i > 0 {
			w.put(",...+" + strconv.FormatUint(n-i, 10) + " more")
		} else {
			w.put("...")
		}
	}
	w.put("]")
}

// maxGoWrong bounds elements that cannot be read.
const maxGoWrong = 3

func (w *writer) goArray(v *Value, level int, typed bool) {
	if typed {
		w.put(goTypeName(v.Type) + " ")
	}
	w.goElements(v.Type.Strip().Bounds(nil).Count, func(i uint64) Value { return v.Index(i) }, level)
}

func (w *writer) goSlice(v *Value, level int, typed bool) {
	fields := v.Type.Strip().Fields()
	addr, err := v.word(0)
	length, err2 := v.word(1)
	capacity, err3 := v.word(2)
	if err != nil || err2 != nil || err3 != nil || len(fields) < 3 || fields[0].Type.Strip().Kind != Pointer {
		w.goUnreadable(ErrUnavailable)
		return
	}
	elem := fields[0].Type.Strip().Elem()
	size, ok := elem.size()
	switch {
	case int64(length) < 0:
		w.put("(unreadable Negative array length)")
		return
	case addr == 0 && length > 0:
		w.put("(unreadable non-zero length array with nil base)")
		return
	case !ok || size > 0 && length > maxObject/size:
		w.put("(unreadable bad array base address 0x" + strconv.FormatUint(addr, 16) + ")")
		return
	}
	if typed {
		w.put(goTypeName(v.Type) + " len: " + strconv.FormatUint(length, 10) + ", cap: " + strconv.FormatInt(int64(capacity), 10) + ", ")
	}
	if addr == 0 {
		w.put("nil")
		return
	}
	w.goElements(length, func(i uint64) Value { return v.at(elem, addr+i*size) }, level)
}

func (w *writer) goStruct(v *Value, level int, typed bool) {
	t := v.Type.Strip()
	fields := t.Fields()
	if level > maxGoLevel && len(fields) > 0 && v.Place == InMemory {
		w.goAddress("*"+goTypeName(v.Type), v.Addr)
		return
	}
	if when, ok := v.goTime(t); ok && level <= maxGoLevel {
		w.put(goTypeName(v.Type) + "(" + when + ")")
		typed = false
	}
	if typed {
		w.put(goTypeName(v.Type) + " ")
	}
	w.put("{")
	for i := range fields {
		if i > 0 {
			w.put(", ")
		}
		w.put(fields[i].Name + ": ")
		m := v.Field(&fields[i])
		w.goValue(&m, level+1, true)
	}
	w.put("}")
}

// goChan writes a channel: how many elements it has, and how many it has room for.
func (w *writer) goChan(v *Value) {
	addr, _ := v.Uint()
	w.put(goTypeName(v.Type) + " ")
	if addr == 0 {
		w.put("nil")
		return
	}
	c := v.Deref()
	n, ok := c.dig("qcount")
	room, ok2 := c.dig("dataqsiz")
	count, err := n.number()
	size, err2 := room.number()
	if !ok || !ok2 || err != nil || err2 != nil {
		w.put("(unreadable)")
		return
	}
	w.put(strconv.FormatUint(count, 10) + "/" + strconv.FormatUint(size, 10))
}

// goFunc writes a function or closure: the name of its code.
func (w *writer) goFunc(v *Value) {
	addr, _ := v.Uint()
	if addr == 0 {
		w.put("nil")
		return
	}
	b := make([]byte, v.Type.r.Arch.PtrSize)
	if err := v.readMemory(addr, b); err != nil {
		w.goUnreadable(err)
		return
	}
	pc := number(b, v.Type.order() == bigEndian)
	name, _, ok := v.Type.r.symbolAt(pc)
	if !ok {
		w.put("(unreadable could not find function for 0x" + strconv.FormatUint(pc, 16) + ")")
		return
	}
	w.put(name)
}

// goInterface writes the value in an interface, with its type.
func (w *writer) goInterface(v *Value, level int, typed bool) {
	word, err := v.word(0)
	fields := v.Type.Strip().Fields()
	if err != nil || len(fields) < 2 {
		w.goUnreadable(ErrUnavailable)
		return
	}
	size := uint64(v.Type.r.Arch.PtrSize)
	if word != 0 && fields[0].Name == "tab" { // an interface with methods: the second word of its table is the type
		b := make([]byte, size)
		if err := v.readMemory(word+size, b); err != nil {
			w.goUnreadable(err)
			return
		}
		word = number(b, v.Type.order() == bigEndian)
	}
	if word == 0 {
		if typed {
			w.put(goTypeName(v.Type) + " ")
		}
		w.put("nil")
		return
	}
	t, direct := v.goDynamic(word)
	if t == nil {
		w.put("(unreadable could not resolve interface type)")
		return
	}
	if typed {
		w.put(goTypeName(v.Type) + "(" + goTypeName(t) + ") ")
	}
	kind, _ := goKindOf(t)
	if level > maxGoLevel {
		if kind == goPointer || kind == goUnsafePointer {
			w.put("...")
			return
		}
		w.put("*")
		w.goAddress("*"+goTypeName(v.Type), v.Addr)
		return
	}
	var data Value
	if n, ok := t.size(); direct && ok && n <= size {
		data = v.part(t, int64(size), n)
	} else {
		addr, err := v.word(1)
		if err != nil {
			w.goUnreadable(err)
			return
		}
		data = v.at(t, addr)
	}
	if n, err := data.Uint(); err == nil && n == 0 && kind == goPointer {
		w.put("nil")
		return
	}
	w.goValue(&data, level, !typed)
}

// goEscaped returns the variable that a pointer of Go's compiler points to: a variable that is on the heap has a pointer
// to it as its entry, with an ampersand before the name.
func (v *Variable) goEscaped() (name string, is bool) {
	if len(v.Name) < 2 || v.Name[0] != '&' || v.Type == nil || v.Type.Language() != "go" || v.Type.Strip().Kind != Pointer {
		return v.Name, false
	}
	return v.Name[1:], true
}

// parametric gives a value whose type is a parameter of a generic function the type that the function was called with:
// the function's dictionary has it.
func (v *Value) parametric() {
	if v.Type.entry == nil || v.frame == nil {
		return
	}
	index, ok := v.Type.entry.Constant(attrGoIndex)
	if !ok || index > 1<<16 {
		return
	}
	dict, ok := v.frame.goDictionary()
	if !ok {
		return
	}
	size := uint64(v.Type.r.Arch.PtrSize)
	b := make([]byte, size)
	if v.readMemory(dict+index*size, b) != nil {
		return
	}
	t, _ := v.goDynamic(number(b, v.Type.order() == bigEndian))
	if t == nil {
		return
	}
	was, ok1 := v.Type.size()
	if is, ok := t.size(); ok && ok1 && is == was {
		v.Type = t
	}
}

// goDictionary returns the address of the dictionary of a generic function.
func (c *context) goDictionary() (uint64, bool) {
	var found *symbol.Entry
	for _, s := range c.scopes.list {
		for _, e := range s.Entries {
			if e.Text(dwarf.AttrName) == ".dict" {
				found = e
			}
		}
	}
	if found == nil || c.nested >= maxNested {
		return 0, false
	}
	inner := *c
	inner.nested++
	v := inner.locate(found, c.r.typeOf(found))
	n, err := v.Uint()
	return n, err == nil && n != 0
}
