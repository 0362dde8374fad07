package value

import (
	"bytes"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// pointedTo returns what * of a smart pointer, an iterator or an optional of C++'s library is, or of Rust's Rc and Arc. ok
// is false for other types.
func (e *evaluation) pointedTo(v *Value, at int) (to Value, ok bool, err error) {
	t := v.Type.Strip()
	if t.Kind != Struct || t.Declared {
		return to, false, nil
	}
	switch t.Language() {
	case "rust":
		if c, found := (&Printer{}).Contents(v); found && !c.Pairs {
			for x := range c.Items {
				if (x.Name == "value" || x.Name == "*value") && x.Value.Type != nil {
					return x.Value, true, nil
				}
				break
			}
		}
		return to, false, nil
	case "c++":
	default:
		return to, false, nil
	}
	name := t.libraryName()
	if short, _, _ := strings.Cut(t.Name, "<"); name == "" && short != "_Node_iterator" && short != "_Node_const_iterator" {
		return to, false, nil
	}
	if err := v.Err(); err != nil {
		return to, false, e.because(at, err)
	}
	if p, ok := v.smartPointer(); ok {
		return p.Deref(), true, nil
	}
	o := &object{v: v, t: t}
	elem := t.argument(0)
	node := func(offset uint64) (Value, bool, error) {
		addr, _, ok := o.pointerTo("_M_node")
		if !ok || elem == nil {
			return to, false, nil
		}
		return o.at(elem, addr+offset), true, nil
	}
	if elem == nil {
		return to, false, nil
	}
	switch name {
	case "optional":
		x, engaged, ok := v.optionalValue()
		if ok && !engaged {
			return to, false, e.fail(at, "the optional has no value")
		}
		return x, ok, nil
	case "__normal_iterator", "_Deque_iterator", "_Deque_const_iterator":
		for _, member := range [...]string{"_M_current", "_M_cur"} {
			if addr, elem, ok := o.pointerTo(member); ok {
				return o.at(elem, addr), true, nil
			}
		}
	case "_List_iterator", "_List_const_iterator":
		return node(alignUp(2*o.ptrSize(), elem.alignment(false)))
	case "_Fwd_list_iterator", "_Fwd_list_const_iterator":
		return node(alignUp(o.ptrSize(), elem.alignment(true)))
	case "_Rb_tree_iterator", "_Rb_tree_const_iterator":
		return node(alignUp(treeWords*o.ptrSize(), elem.alignment(false)))
	}
	if short, _, _ := strings.Cut(t.Name, "<"); short == "_Node_iterator" || short == "_Node_const_iterator" {
		addr, _, ok := o.pointerTo("_M_cur")
		return o.at(elem, addr+alignUp(o.ptrSize(), elem.alignment(true))), ok, nil
	}
	return to, false, nil
}

// element returns what operand[index] of a container of C++, Rust or Go is. ok is false if the operand is none. checked
// says that an index behind the end is an error, as of at().
func (e *evaluation) element(v *Value, index *syntax.Node, at int, checked bool) (x Value, ok bool, err error) {
	t := v.Type.Strip()
	if t.Language() == "go" {
		return e.goElement(v, index, at)
	}
	if t.Kind != Struct || t.Declared || v.Err() != nil {
		return x, false, nil
	}
	i, err := e.value(index)
	if err != nil {
		return x, false, err
	}
	i = referred(i)
	c, found := (&Printer{}).Contents(v)
	if found && c.Pairs {
		var key Child
		n := 0
		for item := range c.Items {
			if n++; n%2 == 1 {
				key = item
				continue
			}
			if item.Value.Type == nil || key.Value.Type == nil {
				break
			}
			if err := item.Value.err; err != nil {
				return x, false, e.because(at, err)
			}
			if same(&key.Value, &i) {
				return item.Value, true, nil
			}
		}
		return x, false, e.fail(index.At, "the container has no such key")
	}
	isText := false
	if t.Language() == "c++" {
		_, _, isText = v.cxxText()
	}
	if !found && !isText && t.libraryName() != "array" && !(t.Language() == "rust" && t.isSlice()) {
		return x, false, nil
	}
	n, err := e.wholeNumber(&i, index.At)
	if err != nil {
		return x, false, err
	}
	if !checked && t.Language() == "c++" { // the operator does not look for the end
		o := &object{v: v, t: t}
		if addr, elem, ok := o.pointerTo("_M_impl", "_M_start"); ok && t.libraryName() == "vector" {
			return o.at(elem, addr+uint64(n)*elem.sizeOrZero()), true, nil
		}
	}
	return e.nth(v, n, index.At)
}

// nth returns the n-th element of a container.
func (e *evaluation) nth(v *Value, n int64, at int) (x Value, ok bool, err error) {
	t := v.Type.Strip()
	if t.Language() == "c++" {
		switch name := t.libraryName(); name {
		case "basic_string", "basic_string_view":
			addr, length, ok := v.cxxText()
			if elem := t.argument(0); ok && elem != nil {
				if n < 0 || uint64(n) > length {
					return x, false, e.fail(at, "index %d is outside of the string of %d characters", n, length)
				}
				return v.At(elem, addr+uint64(n)*elem.sizeOrZero()), true, nil
			}
		case "array":
			if elems, ok := v.member("_M_elems"); ok {
				if b := elems.Type.Strip().Bounds(); n < 0 || uint64(n) >= b.Count {
					return x, false, e.fail(at, "index %d is outside of the array of %d elements", n, b.Count)
				}
				return elems.Index(uint64(n)), true, nil
			}
		case "unique_ptr":
			if p, ok := v.smartPointer(); ok {
				x, err := e.advanced(at, &p, n)
				return x.Deref(), err == nil, err
			}
		}
	}
	c, found := (&Printer{}).Contents(v)
	if !found && t.Language() == "rust" && t.isSlice() { // of another name than a slice's, such as Box<[T]>
		elem, addr, length, err := v.slice()
		switch {
		case err != nil:
			return x, false, e.because(at, err)
		case n < 0 || uint64(n) >= length:
			return x, false, e.fail(at, "Index greater than length")
		}
		return v.At(elem, addr+uint64(n)*elem.sizeOrZero()), true, nil
	}
	if !found || c.Pairs {
		return x, false, nil
	}
	count := int64(0)
	for item := range c.Items {
		if err := item.Value.err; err != nil {
			return x, false, e.because(at, err)
		}
		if count == n {
			if item.Value.Type == nil {
				if item.Text == "true" || item.Text == "false" { // of a std::vector<bool>
					return e.boolean(item.Text == "true"), true, nil
				}
				return x, false, e.fail(at, "the element cannot be read")
			}
			return item.Value, true, nil
		}
		count++
	}
	return x, false, e.fail(at, "index %d is outside of the container of %d elements", n, count)
}

// same reports whether a key is the value that an expression has: numbers, texts.
func same(key, v *Value) bool {
	a, text := key.textBytes()
	b, also := v.textBytes()
	if text || also {
		return text && also && bytes.Equal(a, b)
	}
	if x, ok, err := key.floating(); ok && err == nil {
		y, ok, err := v.floating()
		if !ok {
			i, err2 := v.Int()
			return err2 == nil && x.F == float64(i)
		}
		return err == nil && x.F == y.F
	}
	if !key.isInteger() && key.Type.Strip().Kind != Pointer {
		p, err := key.Bytes()
		q, err2 := v.Bytes()
		return err == nil && err2 == nil && len(p) > 0 && bytes.Equal(p, q)
	}
	m, err := key.Int()
	n, err2 := v.Int()
	return err == nil && err2 == nil && m == n
}

// sameText reports whether two texts are equal, of which one at least is a string of a language's library. ok is false if
// they are no such texts.
func sameText(a, b *Value) (yes, ok bool) {
	if a.Type.Strip().Kind != Struct && b.Type.Strip().Kind != Struct {
		return false, false
	}
	x, ok := a.textBytes()
	if !ok {
		return false, false
	}
	y, ok := b.textBytes()
	return bytes.Equal(x, y), ok
}

// textBytes returns the bytes of a text: of a string of C++, Rust or Go, of an array of characters or a pointer to them.
func (v *Value) textBytes() (b []byte, ok bool) {
	x := referred(*v)
	t := x.Type.Strip()
	read := func(addr, n uint64) ([]byte, bool) {
		b := make([]byte, min(n, maxRead))
		return b, n <= maxRead && x.ReadMemory(addr, b) == nil
	}
	switch {
	case t.Kind == Array && t.Elem().Strip().sizeOrZero() == 1 && !t.Vector:
		b, err := x.Bytes()
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		return b, err == nil
	case t.Kind == Pointer && t.Elem().Strip().Kind != Void && t.Elem().Strip().Kind != Bool && t.Elem().Strip().sizeOrZero() == 1 && t.Elem().Strip().scalar():
		addr, err := x.Uint()
		if err != nil || addr == 0 {
			return nil, false
		}
		b, _ = readText(&x, addr, 1, maxRead)
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		return b, true
	case t.Kind != Struct:
		return nil, false
	}
	switch t.Language() {
	case "c++":
		if addr, n, ok := x.cxxText(); ok && t.argument(0) != nil && t.argument(0).sizeOrZero() == 1 {
			return read(addr, n)
		}
	case "go":
		if kind, _ := goKindOf(x.Type); kind == goString {
			addr, err := x.Word(0)
			n, err2 := x.Word(1)
			if err == nil && err2 == nil {
				return read(addr, n)
			}
		}
	case "rust":
		if t.isSlice() && strings.HasSuffix(t.Name, "str") {
			if _, addr, n, err := x.slice(); err == nil {
				return read(addr, n)
			}
		}
		if vec, ok := x.dig("vec"); ok {
			if data, n, ok := vec.vec(); ok {
				if addr, err := data.Uint(); err == nil {
					return read(addr, n)
				}
			}
		}
	}
	return nil, false
}
