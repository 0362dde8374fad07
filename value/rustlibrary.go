package value

import (
	"regexp"
	"strconv"
	"sync"
)

// rustLibrary writes a value of a type of Rust's standard library as the printers do that rustc comes with for GDB. It
// reports false if there is none for the type, or if the value is broken.
func (w *Writer) rustLibrary(v *Value, t *Type) bool {
	if t.Kind != Struct || t.Declared || t.Name == "" || len(t.Fields()) == 0 {
		return false
	}
	name := t.FullName()
	rustTypesOnce.Do(makeRustTypes)
	for i := range rustTypes {
		if r := &rustTypes[i]; r.is().MatchString(name) {
			return r.write(w, v, t)
		}
	}
	return false
}

// rustType is a type that Rust's users do not know as the struct that it is.
type rustType struct {
	is    func() *regexp.Regexp // of the full name
	write func(w *Writer, v *Value, t *Type) bool
}

// pathTo matches the name of a type in any module of a crate.
func pathTo(crate, name string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + crate + `::([a-z_]+::)+` + name + `$`) })
}

func matching(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// rustTypes is filled when it is first asked for: writers of values ask for it.
var (
	rustTypes     []rustType
	rustTypesOnce sync.Once
)

func makeRustTypes() {
	rustTypes = []rustType{
		{pathTo("alloc", "String"), func(w *Writer, v *Value, _ *Type) bool { return w.rustString(v, "vec") }},
		{matching(`^&(mut )?str$`), (*Writer).rustStr},
		{matching(`^&(mut )?\[.+\]$`), (*Writer).rustSliceItems},
		{pathTo("std::ffi", "OsString"), func(w *Writer, v *Value, _ *Type) bool {
			return w.rustString(v, "inner", "inner") || w.rustString(v, "inner", "inner", "bytes") // the second one on Windows
		}},
		{pathTo("alloc", "Vec<.+>"), (*Writer).rustVec},
		{pathTo("alloc", "VecDeque<.+>"), (*Writer).rustDeque},
		{pathTo("std::collections", "HashMap<.+>"), func(w *Writer, v *Value, _ *Type) bool { return w.rustHash(v, true) }},
		{pathTo("std::collections", "HashSet<.+>"), func(w *Writer, v *Value, _ *Type) bool { return w.rustHash(v, false) }},
		{pathTo("alloc", "BTreeSet<.+>"), func(w *Writer, v *Value, _ *Type) bool { return w.rustTree(v, false) }},
		{pathTo("alloc", "BTreeMap<.+>"), func(w *Writer, v *Value, _ *Type) bool { return w.rustTree(v, true) }},
		{pathTo("alloc", "Rc<.+>"), func(w *Writer, v *Value, _ *Type) bool { return w.rustCounted(v, "Rc", "value", "value") }},
		{pathTo("alloc", "Arc<.+>"), func(w *Writer, v *Value, _ *Type) bool { return w.rustCounted(v, "Arc", "data", "v") }},
		{pathTo("core", "Ref<.+>"), (*Writer).rustBorrow},
		{pathTo("core", "RefMut<.+>"), (*Writer).rustBorrow},
		{pathTo("core", "RefCell<.+>"), (*Writer).rustRefCell},
		{pathTo("core", "Cell<.+>"), (*Writer).rustCell},
		{pathTo("core", "NonZero<.+>"), (*Writer).rustNonZero},
	}
}

// dig returns a member of a member of … v.
func (v *Value) dig(path ...string) (m Value, ok bool) {
	m = *v
	for _, name := range path {
		if m.Type.Strip().Kind != Struct && m.Type.Strip().Kind != Union {
			return Value{}, false
		}
		if m, ok = m.named(name); !ok {
			return Value{}, false
		}
	}
	return m, true
}

// pointerOf returns the pointer in a NonNull or a Unique.
func (v *Value) pointerOf() (p Value, ok bool) {
	p = *v
	for range 8 {
		t := p.Type.Strip()
		if t.Kind == Pointer {
			return p, true
		}
		if t.Kind != Struct || len(t.Fields()) == 0 {
			break
		}
		if m, ok := p.named("pointer"); ok {
			p = m
			continue
		}
		p = p.Field(&t.Fields()[0])
	}
	return Value{}, false
}

// rawVec returns the pointer and the capacity of a RawVec. Before Rust 1.76 they are in it, later in a member of it.
func (v *Value) rawVec() (data Value, capacity uint64, ok bool) {
	inner, has := v.named("inner")
	if !has {
		inner = *v
	}
	ptr, ok := inner.dig("ptr")
	if !ok {
		return Value{}, 0, false
	}
	data, ok = ptr.pointerOf()
	if !ok {
		return Value{}, 0, false
	}
	c, has := inner.dig("cap")
	for has && c.Type.Strip().Kind == Struct && len(c.Type.Strip().Fields()) > 0 {
		c = c.Field(&c.Type.Strip().Fields()[0])
	}
	if has {
		capacity, _ = c.Uint()
	}
	return data, capacity, true
}

// vec returns the pointer and the length of a Vec.
func (v *Value) vec() (data Value, n uint64, ok bool) {
	buf, ok := v.dig("buf")
	if !ok {
		return Value{}, 0, false
	}
	length, ok := v.dig("len")
	if !ok {
		return Value{}, 0, false
	}
	if data, _, ok = buf.rawVec(); !ok {
		return Value{}, 0, false
	}
	n, err := length.Uint()
	return data, n, err == nil
}

// rustString writes the text of a Vec<u8> within v.
func (w *Writer) rustString(v *Value, path ...string) bool {
	vec, ok := v.dig(path...)
	if !ok {
		return false
	}
	data, n, ok := vec.vec()
	if !ok {
		return false
	}
	addr, err := data.Uint()
	if err != nil {
		return false
	}
	w.rustText(v, data.Type.Strip().Elem(), addr, n)
	return true
}

func (w *Writer) rustStr(v *Value, t *Type) bool {
	elem, addr, n, err := v.slice()
	if err != nil || !t.isSlice() {
		return false
	}
	w.rustText(v, elem, addr, n)
	return true
}

func (w *Writer) rustSliceItems(v *Value, t *Type) bool {
	if !t.isSlice() {
		return false
	}
	elem, addr, n, err := v.slice()
	if err != nil {
		return false
	}
	w.items(t.FullName()+"(size="+strconv.FormatUint(n, 10)+")", array, w.rustElements(v, elem, addr, n))
	return true
}

func (w *Writer) rustVec(v *Value, t *Type) bool {
	data, n, ok := v.vec()
	elem := t.genericArgument(0)
	if !ok || elem == nil {
		return false
	}
	addr, err := data.Uint()
	if err != nil {
		return false
	}
	w.items("Vec(size="+strconv.FormatUint(n, 10)+")", array, w.rustElements(v, elem, addr, n))
	return true
}

// genericArgument returns an argument of a generic type; nil if it has no such one.
func (t *Type) genericArgument(i int) *Type {
	list := t.TemplateArguments()
	if i >= len(list) || list[i].Value != nil {
		return nil
	}
	return list[i].Type
}

// rustElements returns n elements that begin at an address, one after the other.
func (w *Writer) rustElements(v *Value, elem *Type, addr, n uint64) func() (item, bool) {
	size, ok := elem.SizeOf()
	i := uint64(0)
	return func() (item, bool) {
		if i >= n || !ok || !w.Spend(int(min(size, maxRead))) {
			return item{}, false
		}
		x := v.At(elem, addr+i*size)
		if i++; x.Err() != nil {
			i = n // memory ends here
			return item{text: "inaccessible"}, true
		}
		return item{value: x}, true
	}
}

func (w *Writer) rustDeque(v *Value, t *Type) bool {
	elem := t.genericArgument(0)
	buf, ok := v.dig("buf")
	if elem == nil || !ok {
		return false
	}
	data, capacity, ok := buf.rawVec()
	if !ok {
		return false
	}
	addr, err := data.Uint()
	size, sized := elem.SizeOf()
	h, ok := v.dig("head")
	if err != nil || !sized || !ok {
		return false
	}
	head, err := h.Uint()
	if err != nil {
		return false
	}
	var n uint64
	if l, has := v.dig("len"); has {
		n, err = l.Uint()
	} else if l, has := v.dig("tail"); has { // before Rust 1.67: from the tail to the head
		tail, e := l.Uint()
		n, err = (head-tail)&(capacity-1), e
		head = tail
	} else {
		return false
	}
	if err != nil || n > 0 && capacity == 0 && size > 0 || head > maxObject {
		return false
	}
	i := uint64(0)
	w.items("VecDeque(size="+strconv.FormatUint(n, 10)+")", array, func() (item, bool) {
		if i >= n || !w.Spend(int(min(size, maxRead))) {
			return item{}, false
		}
		at := uint64(0)
		if capacity > 0 {
			at = (head + i) % capacity
		}
		x := v.At(elem, addr+at*size)
		if i++; x.Err() != nil {
			i = n
			return item{text: "inaccessible"}, true
		}
		return item{value: x}, true
	})
	return true
}

// innermost returns the first member of the first member of a struct, and so on: the number in a cell or an atomic, around which
// newer versions of the library have further structs.
func (v *Value) innermost() Value {
	x := *v
	for range maxNames {
		t := x.Type.Strip()
		if t.Kind != Struct || len(t.Fields()) == 0 {
			break
		}
		x = x.Field(&t.Fields()[0])
	}
	return x
}

// rustCounted writes an Rc or Arc: the object that it points to, and how many point to it.
func (w *Writer) rustCounted(v *Value, name, object, counter string) bool {
	ptr, ok := v.dig("ptr")
	if !ok {
		return false
	}
	p, ok := ptr.pointerOf()
	if !ok {
		return false
	}
	inner := p.Deref()
	x, ok := inner.dig(object)
	strong, ok1 := inner.dig("strong", counter)
	weak, ok2 := inner.dig("weak", counter)
	if !ok || !ok1 || !ok2 {
		return false
	}
	strong, weak = strong.innermost(), weak.innermost()
	s, err := strong.Uint()
	n, err2 := weak.Uint()
	if err != nil || err2 != nil {
		return false
	}
	title := name + "(strong=" + strconv.FormatUint(s, 10) + ", weak=" + strconv.FormatUint(n-1, 10) + ")"
	w.items(title, members, list(
		item{name: "value", value: x}, item{name: "strong", value: strong}, item{name: "weak", text: strconv.FormatUint(n-1, 10)}))
	return true
}

func (w *Writer) rustCell(v *Value, _ *Type) bool {
	x, ok := v.dig("value", "value")
	if !ok {
		return false
	}
	w.items("Cell", members, list(item{name: "value", value: x}))
	return true
}

// borrowed says how often a cell is borrowed.
func borrowed(name string, n int64) string {
	if n < 0 {
		return name + "(borrow_mut=" + strconv.FormatInt(-n, 10) + ")"
	}
	return name + "(borrow=" + strconv.FormatInt(n, 10) + ")"
}

func (w *Writer) rustRefCell(v *Value, _ *Type) bool {
	x, ok := v.dig("value", "value")
	b, ok2 := v.dig("borrow", "value", "value")
	if !ok || !ok2 {
		return false
	}
	n, err := b.Int()
	if err != nil {
		return false
	}
	w.items(borrowed("RefCell", n), members, list(item{name: "value", value: x}, item{name: "borrow", value: b}))
	return true
}

// rustBorrow writes a Ref or RefMut: the object in the cell.
func (w *Writer) rustBorrow(v *Value, _ *Type) bool {
	ptr, ok := v.dig("value")
	b, ok2 := v.dig("borrow", "borrow")
	if !ok || !ok2 {
		return false
	}
	p, ok := ptr.pointerOf()
	if !ok {
		return false
	}
	if b.Type.Strip().Kind == Pointer {
		b = b.Deref()
	}
	count, ok := b.dig("value", "value")
	if !ok {
		return false
	}
	n, err := count.Int()
	if err != nil {
		return false
	}
	w.items(borrowed("Ref", n), members, list(item{name: "*value", value: p.Deref()}, item{name: "borrow", value: count}))
	return true
}

func (w *Writer) rustNonZero(v *Value, t *Type) bool {
	x := *v
	for range 3 { // the number is in a struct, which may be in another one
		t := x.Type.Strip()
		if t.Kind != Struct {
			break
		}
		if len(t.Fields()) != 1 {
			return false
		}
		x = x.Field(&t.Fields()[0])
	}
	if x.Type.Strip().Kind != Integer {
		return false
	}
	w.Part(&x)
	return true
}
