package value

import (
	"bytes"
	"reflect"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// asked returns what the first printer answers that knows an object by its operators.
func asked(v *Value, ask func(o Operators) (Value, bool, error)) (x Value, ok bool, err error) {
	for _, p := range v.Type.r.Printers.Pretty {
		if o, is := p.(Operators); is {
			if x, ok, err = ask(o); ok || err != nil {
				break
			}
		}
	}
	return x, ok, err
}

// run returns the elements of an object of a library that lie one behind the other.
func (v *Value) run() (run Run, ok bool, err error) {
	_, ok, err = asked(v, func(o Operators) (_ Value, ok bool, err error) {
		run, ok, err = o.Run(v)
		return
	})
	return run, ok, err
}

// pointedTo returns what * of an object of a library is: of a smart pointer, an iterator, an
// optional. ok is false for other types.
func (e *evaluation) pointedTo(v *Value, at int) (to Value, ok bool, err error) {
	t := v.Type.Strip()
	if t.Kind != Struct || t.Declared {
		return to, false, nil
	}
	if to, ok, err = asked(v, func(o Operators) (Value, bool, error) { return o.Deref(v) }); err != nil {
		return to, false, e.because(at, err)
	}
	return to, ok, nil
}

// element returns what operand[index] of a container of a library, or of Go, is. ok is false if the
// operand is none. checked says that an index behind the end is an error, as of at().
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
	if !found {
		_, known, err := asked(v, func(o Operators) (Value, bool, error) { return o.Index(v, 0, false) })
		if !known && err == nil {
			return x, false, nil
		}
	}
	n, err := e.wholeNumber(&i, index.At)
	if err != nil {
		return x, false, err
	}
	return e.nth(v, n, index.At, checked)
}

// nth returns the n-th element of a container.
func (e *evaluation) nth(v *Value, n int64, at int, checked bool) (x Value, ok bool, err error) {
	x, ok, err = asked(v, func(o Operators) (Value, bool, error) { return o.Index(v, n, checked) })
	switch {
	case err != nil:
		return x, false, e.because(at, err)
	case ok:
		return x, true, nil
	}
	c, found := (&Printer{}).Contents(v)
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

// sameText reports whether two texts are equal, of which one at least is a string of a language's
// library. ok is false if they are no such texts.
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

// textBytes returns the bytes of a text: of a string of a library or of Go, of an array of
// characters or a pointer to them.
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
	if t.Language() == "go" {
		if kind, _ := x.Type.GoKind(); kind == reflect.String {
			addr, err := x.Word(0)
			n, err2 := x.Word(1)
			if err == nil && err2 == nil {
				return read(addr, n)
			}
		}
		return nil, false
	}
	if run, ok, err := x.run(); ok && err == nil && run.Text && run.Elem.sizeOrZero() == 1 {
		return read(run.Addr, uint64(run.Len))
	}
	return nil, false
}
