package rust

import (
	"iter"
	"regexp"
	"strconv"
	"sync"

	"github.com/sfwalk/sfwalk/value"
)

// Printer knows the types of Rust's standard library.
type Printer struct{}

// Name implements value.PrettyPrinter.
func (Printer) Name() string { return "rust" }

// For implements value.PrettyPrinter.
func (Printer) For(t *value.Type) value.Show {
	if t.Kind != value.Struct || t.Declared || t.Name == "" || t.Language() != "rust" || len(t.Fields()) == 0 {
		return nil
	}
	name := t.FullName()
	for _, l := range library {
		if l.is().MatchString(name) {
			return l.show
		}
	}
	return nil
}

// libraryType is a type that Rust's users do not know as the struct that it is.
type libraryType struct {
	is   func() *regexp.Regexp // of the full name
	show value.Show
}

// pathTo matches the name of a type in any module of a crate.
func pathTo(crate, name string) func() *regexp.Regexp {
	return matching(`^` + crate + `::([a-z_]+::)+` + name + `$`)
}

// matching compiles an expression when it is first asked for, not at the start of each program.
func matching(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var library = []libraryType{
	{pathTo("alloc", "String"), shownString},
	{matching(`^&(mut )?str$`), shownStr},
	{matching(`^&(mut )?\[.+\]$`), shownSlice},
	{pathTo("std::ffi", "OsString"), shownOsString},
	{pathTo("alloc", "Vec<.+>"), shownVec},
	{pathTo("alloc", "VecDeque<.+>"), shownDeque},
	{pathTo("std::collections", "HashMap<.+>"), shownHashMap},
	{pathTo("std::collections", "HashSet<.+>"), shownHashSet},
	{pathTo("alloc", "BTreeSet<.+>"), shownTreeSet},
	{pathTo("alloc", "BTreeMap<.+>"), shownTreeMap},
	{pathTo("alloc", "Rc<.+>"), counted("Rc", "value", "value")},
	{pathTo("alloc", "Arc<.+>"), counted("Arc", "data", "v")},
	{pathTo("core", "Ref<.+>"), shownBorrow},
	{pathTo("core", "RefMut<.+>"), shownBorrow},
	{pathTo("core", "RefCell<.+>"), shownRefCell},
	{pathTo("core", "Cell<.+>"), shownCell},
	{pathTo("core", "NonZero<.+>"), shownNonZero},
}

// sized shows a container of n elements.
func sized(name string, n uint64, hint value.Hint, items iter.Seq2[value.Child, error]) *value.Shown {
	return &value.Shown{Text: name + "(size=" + strconv.FormatUint(n, 10) + ")", Hint: hint, Children: items}
}

// named shows parts with names.
func named(title string, list ...value.Child) *value.Shown {
	return &value.Shown{Text: title, Children: func(yield func(value.Child, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}}
}

// pointerOf returns the pointer in a NonNull or a Unique.
func pointerOf(v *value.Value) (p value.Value, ok bool) {
	p = *v
	for range 8 {
		t := p.Type.Strip()
		if t.Kind == value.Pointer {
			return p, true
		}
		if t.Kind != value.Struct || len(t.Fields()) == 0 {
			break
		}
		if m, ok := p.Member("pointer"); ok {
			p = m
			continue
		}
		p = p.Field(&t.Fields()[0])
	}
	return value.Value{}, false
}

// rawVec returns the pointer and the capacity of a RawVec. Before Rust 1.76 they are in it, later
// in a member of it.
func rawVec(v *value.Value) (data value.Value, capacity uint64, ok bool) {
	inner, has := v.Member("inner")
	if !has {
		inner = *v
	}
	ptr, ok := inner.Member("ptr")
	if !ok {
		return value.Value{}, 0, false
	}
	data, ok = pointerOf(&ptr)
	if !ok {
		return value.Value{}, 0, false
	}
	c, has := inner.Member("cap")
	for has && c.Type.Strip().Kind == value.Struct && len(c.Type.Strip().Fields()) > 0 {
		c = c.Field(&c.Type.Strip().Fields()[0])
	}
	if has {
		capacity, _ = c.Uint()
	}
	return data, capacity, true
}

// vec returns the elements of a Vec, of the type that its pointer points to.
func vec(v *value.Value) (run value.Run, ok bool) {
	buf, ok := v.Member("buf")
	if !ok {
		return run, false
	}
	length, ok := v.Member("len")
	if !ok {
		return run, false
	}
	data, capacity, ok := rawVec(&buf)
	if !ok {
		return run, false
	}
	n, err := length.Uint()
	if err != nil {
		return run, false
	}
	run = value.Run{Elem: data.Type.Strip().Elem(), Len: int64(n), Cap: int64(capacity)}
	run.Addr, err = data.Uint()
	return run, err == nil
}

// textOf shows the text of a Vec<u8> within v.
func textOf(v *value.Value, path ...string) *value.Shown {
	bytes, ok := v.Member(path...)
	if !ok {
		return nil
	}
	run, ok := vec(&bytes)
	if !ok {
		return nil
	}
	return text(v, run)
}

// text shows a text of bytes.
func text(v *value.Value, run value.Run) *value.Shown {
	return &value.Shown{Write: func(w *value.Writer) { w.TextAt(v, run.Elem, run.Addr, uint64(run.Len)) }}
}

func shownString(w *value.Writer, v *value.Value) *value.Shown { return textOf(v, "vec") }

func shownOsString(w *value.Writer, v *value.Value) *value.Shown {
	if s := textOf(v, "inner", "inner"); s != nil {
		return s
	}
	return textOf(v, "inner", "inner", "bytes") // on Windows
}

func shownStr(w *value.Writer, v *value.Value) *value.Shown {
	run, err := slice(v)
	if err != nil || !isSlice(v.Type.Strip()) {
		return nil
	}
	return text(v, run)
}

func shownSlice(w *value.Writer, v *value.Value) *value.Shown {
	t := v.Type.Strip()
	if !isSlice(t) {
		return nil
	}
	run, err := slice(v)
	if err != nil {
		return nil
	}
	return sized(t.FullName(), uint64(run.Len), value.AsArray, elements(v, run, 0))
}

func shownVec(w *value.Writer, v *value.Value) *value.Shown {
	run, ok := vec(v)
	if run.Elem = v.Type.Strip().Argument(0); !ok || run.Elem == nil {
		return nil
	}
	return sized("Vec", uint64(run.Len), value.AsArray, elements(v, run, 0))
}

// elements yields elements that lie one behind the other. The first is the one of a number; that
// behind the last for which there is room is number 0.
func elements(v *value.Value, run value.Run, first uint64) iter.Seq2[value.Child, error] {
	return func(yield func(value.Child, error) bool) {
		size, ok := run.Elem.SizeOf()
		for i := uint64(0); i < uint64(run.Len) && ok; i++ {
			at := i
			if first != 0 {
				at = (first + i) % uint64(run.Cap)
			}
			x := v.At(run.Elem, run.Addr+at*size)
			if x.Err() != nil { // memory ends here
				yield(value.Child{Text: "inaccessible"}, nil)
				return
			}
			if !yield(value.Child{Value: x}, nil) {
				return
			}
		}
	}
}

// maxHead bounds where the first element of a VecDeque is.
const maxHead = 1 << 47

func shownDeque(w *value.Writer, v *value.Value) *value.Shown {
	elem := v.Type.Strip().Argument(0)
	buf, ok := v.Member("buf")
	if elem == nil || !ok {
		return nil
	}
	data, capacity, ok := rawVec(&buf)
	if !ok {
		return nil
	}
	addr, err := data.Uint()
	size, sizeKnown := elem.SizeOf()
	h, ok := v.Member("head")
	if err != nil || !sizeKnown || !ok {
		return nil
	}
	head, err := h.Uint()
	if err != nil {
		return nil
	}
	var n uint64
	if l, has := v.Member("len"); has {
		n, err = l.Uint()
	} else if l, has := v.Member("tail"); has { // before Rust 1.67: from the tail to the head
		tail, e := l.Uint()
		n, err = (head-tail)&(capacity-1), e
		head = tail
	} else {
		return nil
	}
	if err != nil || n > 0 && capacity == 0 && size > 0 || head > maxHead {
		return nil
	}
	if capacity == 0 {
		head = 0
	}
	run := value.Run{Elem: elem, Addr: addr, Len: int64(n), Cap: int64(capacity)}
	return sized("VecDeque", n, value.AsArray, elements(v, run, head))
}

// innermost returns the first member of the first member of a struct, and so on: the number in a
// cell or an atomic, around which newer versions of the library have further structs.
func innermost(v *value.Value) value.Value {
	const most = 64
	x := *v
	for range most {
		t := x.Type.Strip()
		if t.Kind != value.Struct || len(t.Fields()) == 0 {
			break
		}
		x = x.Field(&t.Fields()[0])
	}
	return x
}

// counted shows an Rc or Arc: the object that it points to, and how many point to it.
func counted(name, object, counter string) value.Show {
	return func(w *value.Writer, v *value.Value) *value.Shown {
		ptr, ok := v.Member("ptr")
		if !ok {
			return nil
		}
		p, ok := pointerOf(&ptr)
		if !ok {
			return nil
		}
		inner := p.Deref()
		x, ok := inner.Member(object)
		strong, ok1 := inner.Member("strong", counter)
		weak, ok2 := inner.Member("weak", counter)
		if !ok || !ok1 || !ok2 {
			return nil
		}
		strong, weak = innermost(&strong), innermost(&weak)
		s, err := strong.Uint()
		n, err2 := weak.Uint()
		if err != nil || err2 != nil {
			return nil
		}
		others := strconv.FormatUint(n-1, 10)
		return named(name+"(strong="+strconv.FormatUint(s, 10)+", weak="+others+")",
			value.Child{Name: "value", Value: x}, value.Child{Name: "strong", Value: strong},
			value.Child{Name: "weak", Text: others})
	}
}

func shownCell(w *value.Writer, v *value.Value) *value.Shown {
	x, ok := v.Member("value", "value")
	if !ok {
		return nil
	}
	return named("Cell", value.Child{Name: "value", Value: x})
}

// borrowed says how often a cell is borrowed.
func borrowed(name string, n int64) string {
	if n < 0 {
		return name + "(borrow_mut=" + strconv.FormatInt(-n, 10) + ")"
	}
	return name + "(borrow=" + strconv.FormatInt(n, 10) + ")"
}

func shownRefCell(w *value.Writer, v *value.Value) *value.Shown {
	x, ok := v.Member("value", "value")
	b, ok2 := v.Member("borrow", "value", "value")
	if !ok || !ok2 {
		return nil
	}
	n, err := b.Int()
	if err != nil {
		return nil
	}
	return named(borrowed("RefCell", n), value.Child{Name: "value", Value: x}, value.Child{Name: "borrow", Value: b})
}

// shownBorrow shows a Ref or RefMut: the object in the cell.
func shownBorrow(w *value.Writer, v *value.Value) *value.Shown {
	ptr, ok := v.Member("value")
	b, ok2 := v.Member("borrow", "borrow")
	if !ok || !ok2 {
		return nil
	}
	p, ok := pointerOf(&ptr)
	if !ok {
		return nil
	}
	if b.Type.Strip().Kind == value.Pointer {
		b = b.Deref()
	}
	count, ok := b.Member("value", "value")
	if !ok {
		return nil
	}
	n, err := count.Int()
	if err != nil {
		return nil
	}
	return named(borrowed("Ref", n), value.Child{Name: "*value", Value: p.Deref()}, value.Child{Name: "borrow", Value: count})
}

func shownNonZero(w *value.Writer, v *value.Value) *value.Shown {
	x := *v
	for range 3 { // the number is in a struct, which may be in another one
		t := x.Type.Strip()
		if t.Kind != value.Struct {
			break
		}
		if len(t.Fields()) != 1 {
			return nil
		}
		x = x.Field(&t.Fields()[0])
	}
	if x.Type.Strip().Kind != value.Integer {
		return nil
	}
	return &value.Shown{Write: func(w *value.Writer) { w.Part(&x) }}
}
