package value

import (
	"iter"
	"reflect"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// goRun is what a string, slice or array of Go has.
type goRun struct {
	elem        *Type
	addr        uint64
	length, cap int64
}

// goRunOf returns the elements of a string, a slice, an array or a pointer to an array. ok is false
// for other types.
func (e *evaluation) goRunOf(v *Value, at int) (run goRun, ok bool, err error) {
	kind, t := v.Type.GoKind()
	if kind == reflect.Pointer {
		to := v.Deref()
		if k, _ := to.Type.GoKind(); k == reflect.Array {
			*v, kind, t = to, k, to.Type.Strip()
		}
	}
	switch kind {
	case reflect.String, reflect.Slice:
		addr, err := v.Word(0)
		length, err2 := v.Word(1)
		if err := firstOf(err, err2); err != nil {
			return run, false, e.because(at, err)
		}
		run = goRun{addr: addr, length: int64(length), cap: int64(length)}
		if kind == reflect.String {
			run.elem = e.goNamed("uint8")
			if run.elem == nil {
				run.elem = e.r.basic("unsigned char")
			}
			return run, true, nil
		}
		fields := t.Strip().Fields()
		capacity, err := v.Word(2)
		if err != nil || len(fields) < 3 || fields[0].Type.Strip().Kind != Pointer {
			return run, false, e.because(at, firstOf(err, ErrUnavailable))
		}
		run.cap, run.elem = int64(capacity), fields[0].Type.Strip().Elem()
		return run, true, nil
	case reflect.Array:
		n := int64(t.Strip().Bounds().Count)
		return goRun{elem: t.Strip().Elem(), addr: v.Addr, length: n, cap: n}, v.Place == InMemory, nil
	}
	return run, false, nil
}

// goNamed returns the type of a name, as Go's compiler spells it; nil if there is none.
func (e *evaluation) goNamed(name string) *Type { return e.typeCalled(name, nil) }

// goElement evaluates operand[index] of Go.
func (e *evaluation) goElement(v *Value, index *syntax.Node, at int) (x Value, ok bool, err error) {
	if kind, _ := v.Type.GoKind(); kind == reflect.Map {
		key, err := e.value(index)
		if err != nil {
			return x, false, err
		}
		entries := e.goEntries(v)
		if entries == nil {
			return x, false, e.fail(at, "the map cannot be read")
		}
		var k Value
		n := 0
		for c := range entries {
			if n++; n%2 == 1 {
				k = c.Value
			} else if same(&k, &key) {
				return c.Value, true, nil
			}
			if n > 2*maxItems {
				break
			}
		}
		return x, false, e.fail(index.At, "key not found")
	}
	run, ok, err := e.goRunOf(v, at)
	if err != nil || !ok {
		return x, false, err
	}
	i, err := e.coerced(index)
	if err != nil {
		return x, false, err
	}
	n, err := e.wholeNumber(&i, index.At)
	if err != nil {
		return x, false, err
	}
	if n < 0 || n >= run.length {
		return x, false, e.fail(index.At, "index out of bounds")
	}
	size, ok := run.elem.SizeOf()
	if !ok {
		return x, false, e.fail(at, "the size of an element is not known")
	}
	return v.At(run.elem, run.addr+uint64(n)*size), true, nil
}

// goEntries yields keys and values of a map in turn; nil if it cannot be read.
func (e *evaluation) goEntries(v *Value) iter.Seq2[Child, error] {
	if s := (&Printer{}).writer().show(v, v.Type.Strip()); s != nil {
		return s.Children
	}
	return nil
}

// slice evaluates operand[low:high] of Go, and operand[low..high] of Rust.
func (e *evaluation) slice(n *syntax.Node) (Value, error) {
	v, err := e.value(n.Args[0])
	if err != nil {
		return v, err
	}
	v = referred(v)
	bound := func(of *syntax.Node, without int64) (int64, error) {
		if of == nil {
			return without, nil
		}
		i, err := e.coerced(of)
		if err != nil {
			return 0, err
		}
		return e.wholeNumber(&i, of.At)
	}
	if n.Text == ".." || n.Text == "..=" {
		return e.rustSlice(n, &v, bound)
	}
	run, ok, err := e.goRunOf(&v, n.At)
	if err != nil {
		return v, err
	}
	if !ok {
		return v, e.fail(n.At, "cannot slice something of type %s", v.Type)
	}
	low, err := bound(n.Args[1], 0)
	if err != nil {
		return v, err
	}
	high, err := bound(n.Args[2], run.length)
	if err != nil {
		return v, err
	}
	kind, _ := v.Type.GoKind()
	most := run.length
	if kind == reflect.Slice {
		most = max(run.cap, most)
	}
	if low < 0 || high < low || high > most {
		return v, e.fail(n.At, "index out of bounds")
	}
	t := v.Type
	if kind == reflect.Array {
		if t = e.goNamed("[]" + run.elem.Name); t == nil {
			return v, e.fail(n.At, "the program has no type []%s", run.elem.Name)
		}
	}
	words := []uint64{run.addr + uint64(low)*run.elem.sizeOrZero(), uint64(high - low)}
	if kind != reflect.String {
		words = append(words, uint64(run.cap-low))
	}
	var b []byte
	for _, w := range words {
		p := e.pointer(e.r.pointerTo(e.r.void()), w)
		raw, err := p.Bytes()
		if err != nil {
			return v, e.because(n.At, err)
		}
		b = append(b, raw...)
	}
	return Value{Type: t, bytes: b, read: true, mem: v.mem, frame: v.frame}, nil
}

// goLength evaluates len and cap.
func (e *evaluation) goLength(n *syntax.Node, what string) (Value, error) {
	v, err := e.value(n.Args[1])
	if err != nil {
		return v, err
	}
	t := e.goNamed("int")
	if t == nil {
		t = e.r.basic("long")
	}
	run, ok, err := e.goRunOf(&v, n.Args[1].At)
	if err != nil {
		return v, err
	}
	kind, _ := v.Type.GoKind()
	switch {
	case ok && what == "len":
		return t.constant(run.length), nil
	case ok && kind != reflect.String:
		return t.constant(run.cap), nil
	default:
		size, ok, err := asked(&v, func(o Operators) (Value, bool, error) { return o.Method(&v, what) })
		if err != nil {
			return v, e.because(n.Args[1].At, err)
		}
		if count, err := size.Uint(); ok && err == nil {
			return t.constant(int64(count)), nil
		}
	}
	return v, e.fail(n.Args[1].At, "invalid argument of type %s for %s", v.Type, what)
}

// assert evaluates operand.(type) and operand.(data) of Go: what is in an interface.
func (e *evaluation) assert(n *syntax.Node) (Value, error) {
	v, err := e.value(n.Args[0])
	if err != nil {
		return v, err
	}
	if kind, _ := v.Type.GoKind(); kind != reflect.Interface {
		return v, e.fail(n.At, "expression \"%s\" not an interface", v.Type)
	}
	data, t, err := v.Inside()
	if err != nil {
		return v, e.because(n.At, err)
	}
	want := strings.Repeat("*", n.Type.Pointers) + n.Type.Name
	if t == nil {
		return v, e.fail(n.At, "interface conversion: the interface is nil, not %s", want)
	}
	if want != "data" {
		name := t.Name
		if slash := strings.LastIndexByte(name, '/') + 1; name != want && name[slash:] != want {
			return v, e.fail(n.At, "interface conversion: the interface has a %s, not %s", name, want)
		}
	}
	return data, nil
}

// rustSlice evaluates operand[low..high]: an array of those elements.
func (e *evaluation) rustSlice(n *syntax.Node, v *Value, bound func(of *syntax.Node, without int64) (int64, error)) (Value, error) {
	var run Run
	if t := v.Type.Strip(); t.Kind == Array && v.Place == InMemory {
		run = Run{Elem: t.Elem(), Addr: v.Addr, Len: int64(t.Bounds().Count)}
	} else {
		of, ok, err := v.run()
		switch {
		case err != nil:
			return *v, e.because(n.At, err)
		case !ok || t.Name == "String":
			return *v, e.fail(n.At, "Can't take slice of non-array")
		}
		run = of
	}
	count := run.Len
	low, err := bound(n.Args[1], 0)
	if err != nil {
		return *v, err
	}
	high, err := bound(n.Args[2], count)
	if err != nil {
		return *v, err
	}
	if n.Text == "..=" && n.Args[2] != nil {
		high++
	}
	switch {
	case low < 0 || low > count:
		return *v, e.fail(n.At, "Index less than zero")
	case low > high:
		return *v, e.fail(n.At, "Range start greater than end")
	case high > count:
		return *v, e.fail(n.At, "Index %d is outside of %d elements", high, count)
	}
	return e.at(e.r.arrayOf(run.Elem, uint64(high-low)), run.Addr+uint64(low)*run.Elem.sizeOrZero()), nil
}

// goPromoted returns a member of a struct, or of the structs that are embedded in it: the least
// deep one.
func (v *Value) goPromoted(name string) (x Value, ok bool) {
	level := []Value{*v}
	for depth := 0; depth < maxBases && len(level) > 0 && len(level) <= maxPaths; depth++ {
		var next []Value
		for i := range level {
			o := &level[i]
			if o.Type.Strip().Kind == Pointer {
				to := o.Deref()
				o = &to
			}
			if o.Type.Strip().Kind != Struct || o.err != nil {
				continue
			}
			fields := o.Type.Strip().Fields()
			for k := range fields {
				f := &fields[k]
				if f.Name == name {
					x = o.path([]*Field{f})
					x.Parametric()
					return x, true
				}
				if f.entry != nil && f.entry.Flag(dwarfdata.AttrGoEmbedded) {
					next = append(next, o.path([]*Field{f}))
				}
			}
		}
		level = next
	}
	return x, false
}
