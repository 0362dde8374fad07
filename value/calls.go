package value

import (
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// call evaluates what looks like a call, but runs nothing in the process: methods of C++'s containers that tell what their
// printers know, and len and cap of Go.
func (e *evaluation) call(n *syntax.Node) (Value, error) {
	of := n.Args[0]
	if e.f.Language == "fortran" {
		if v, ok, err := e.fortranElement(n); ok || err != nil {
			return v, err
		}
	}
	if e.f.Language == "go" && of.Kind == syntax.Name && len(n.Args) == 2 && (of.Text == "len" || of.Text == "cap") {
		return e.goLength(n, of.Text)
	}
	if e.f.Language == "go" && of.Kind == syntax.Name && len(n.Args) == 2 {
		if t := e.goNamed(of.Text); t != nil {
			v, err := e.value(n.Args[1])
			if err != nil {
				return v, err
			}
			return e.cast(v, t, n.At)
		}
	}
	if of.Kind == syntax.Member && e.f.Language == "c++" {
		if v, ok, err := e.method0(of, n.Args[1:]); ok || err != nil {
			return v, err
		}
	}
	return Value{}, e.fail(n.At, "--print does not call functions: use sfwalk call")
}

// method0 evaluates a method of an object of C++'s library. ok is false if it is none of those that are known.
func (e *evaluation) method0(of *syntax.Node, args []*syntax.Node) (v Value, ok bool, err error) {
	o, err := e.value(of.Args[0])
	if err != nil {
		return v, false, err
	}
	if o = referred(o); of.Arrow {
		if to, ok, err := e.pointedTo(&o, of.At); err != nil {
			return v, false, err
		} else if ok {
			o = to
		} else if o.Type.Strip().Kind == Pointer {
			o = o.Deref()
		}
	}
	t := o.Type.Strip()
	name := t.libraryName()
	if name == "" {
		return v, false, nil
	}
	if err := o.Err(); err != nil {
		return v, false, e.because(of.At, err)
	}
	count := func() (int64, bool) {
		if _, n, ok := o.cxxText(); ok {
			return int64(n), true
		}
		c, ok := (&Printer{}).Contents(&o)
		if !ok {
			return 0, false
		}
		n := int64(0)
		for range c.Items {
			n++
		}
		if c.Pairs {
			n /= 2
		}
		return n, true
	}
	boolean := func(yes bool) Value { return e.r.basic("bool").constant(map[bool]int64{true: 1}[yes]) }
	switch of.Text {
	case "size", "length", "empty", "front", "back", "at":
		switch name {
		case "unique_ptr", "shared_ptr", "weak_ptr", "optional", "variant", "any", "pair", "tuple", "atomic":
			return v, false, nil
		}
		if (len(args) == 1) != (of.Text == "at") {
			return v, false, nil
		}
		if of.Text == "at" {
			v, ok, err = e.element(&o, args[0], of.At, true)
			return v, ok, err
		}
		n, ok := count()
		switch {
		case !ok:
			return v, false, nil
		case of.Text == "empty":
			return boolean(n == 0), true, nil
		case of.Text != "front" && of.Text != "back":
			return e.r.basic("unsigned long").constant(n), true, nil
		case n == 0:
			return v, false, e.fail(of.At, "the container is empty")
		case of.Text == "front":
			n = 1
		}
		v, ok, err = e.nth(&o, n-1, of.At)
		return v, ok, err
	case "get", "data", "c_str":
		if len(args) > 0 {
			return v, false, nil
		}
		if addr, _, ok := o.cxxText(); ok && t.argument(0) != nil {
			return e.pointer(e.r.pointerTo(t.argument(0)), addr), true, nil
		}
		if p, ok := o.smartPointer(); ok {
			if name == "reference_wrapper" {
				p = p.Deref()
			}
			return p, true, nil
		}
		in := &object{v: &o, t: t}
		if addr, elem, ok := in.pointerTo("_M_impl", "_M_start"); ok && name == "vector" {
			return e.pointer(e.r.pointerTo(elem), addr), true, nil
		}
	case "value", "has_value":
		if name == "optional" && len(args) == 0 {
			x, engaged, ok := o.optionalValue()
			switch {
			case !ok:
				return v, false, nil
			case of.Text == "has_value":
				return boolean(engaged), true, nil
			case !engaged:
				return v, false, e.fail(of.At, "the optional has no value")
			}
			return x, true, nil
		}
	case "use_count":
		in := &object{v: &o, t: t}
		if counts, _, ok := in.pointerTo("_M_refcount", "_M_pi"); ok && len(args) == 0 {
			use := int32(0)
			if counts != 0 {
				if use, _, err = in.counts(counts); err != nil {
					return v, false, e.because(of.At, err)
				}
			}
			return e.r.basic("long").constant(int64(use)), true, nil
		}
	}
	return v, false, nil
}

// libraryName returns the name of a type of C++'s library without namespaces and arguments; "" for other types.
func (t *Type) libraryName() string {
	name, _, _ := strings.Cut(t.Name, "<")
	if t.Kind == Struct && !t.Declared && (cxxPrinter(t) != nil || strings.HasPrefix(t.FullName(), "std::array<") || strings.HasPrefix(t.FullName(), "std::reference_wrapper<")) {
		return name
	}
	return ""
}

// cxxText returns where the characters of a string of C++ are, and their number.
func (v *Value) cxxText() (addr, n uint64, ok bool) {
	t := v.Type.Strip()
	o := &object{v: v, t: t}
	switch t.libraryName() {
	case "basic_string":
		addr, _, ok = o.pointerTo("_M_dataplus", "_M_p")
		length, has := o.number("_M_string_length")
		if !has && ok {
			word, err := o.word(addr - 3*o.ptrSize())
			length, has = int64(word), err == nil
		}
		return addr, uint64(length), ok && has
	case "basic_string_view":
		addr, _, ok = o.pointerTo("_M_str")
		length, has := o.number("_M_len")
		return addr, uint64(length), ok && has
	}
	return 0, 0, false
}

// smartPointer returns the pointer in a std::unique_ptr or std::shared_ptr.
func (v *Value) smartPointer() (Value, bool) {
	switch v.Type.Strip().libraryName() {
	case "unique_ptr":
		return uniquePointer(v)
	case "shared_ptr", "weak_ptr":
		return v.member("_M_ptr")
	case "reference_wrapper":
		return v.member("_M_data")
	}
	return Value{}, false
}

// optionalValue returns the value in a std::optional.
func (v *Value) optionalValue() (x Value, engaged, ok bool) {
	m, ok := v.member("_M_payload", "_M_engaged")
	n, err := m.Uint()
	if !ok || err != nil {
		return x, false, false
	}
	if n == 0 {
		return x, false, true
	}
	for _, names := range [...][]string{{"_M_payload", "_M_payload", "_M_value"}, {"_M_payload", "_M_payload"}, {"_M_payload"}} {
		if x, ok = v.member(names...); ok {
			return x, true, true
		}
	}
	return x, false, false
}
