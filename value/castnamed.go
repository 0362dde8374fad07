package value

import (
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// namedCast evaluates C++'s static_cast, reinterpret_cast, const_cast and dynamic_cast. As GDB, it
// takes the first and the third for casts of C.
func (e *evaluation) namedCast(n *syntax.Node, t *Type) (Value, error) {
	switch n.Text {
	case "dynamic_cast":
		return e.dynamicCast(n, t)
	case "reinterpret_cast":
		return e.reinterpretCast(n, t)
	}
	return e.castNode(n, t)
}

// reinterpretCast evaluates reinterpret_cast: the bytes stay as they are.
func (e *evaluation) reinterpretCast(n *syntax.Node, t *Type) (Value, error) {
	v, err := e.value(n.Args[0])
	if err != nil {
		return v, err
	}
	v = referred(v)
	to := t.Strip()
	if to.Kind == Reference || to.Kind == RvalueReference {
		if v.Place != InMemory {
			return v, e.fail(n.At, "Attempt to take address of value not located in memory.")
		}
		return e.pointer(t, v.Addr), nil
	}
	if v, err = e.decayed(v, n.Args[0].At); err != nil {
		return v, err
	}
	from := v.Type.Strip()
	integer := func(k Kind) bool { return k == Integer || k == Char || k == Bool || k == Enum }
	address := func(k Kind) bool { return k == Pointer || k == MemberPointer }
	switch {
	case address(from.Kind) && (integer(to.Kind) || address(to.Kind)), integer(from.Kind) && address(to.Kind):
	case integer(from.Kind) && integer(to.Kind) && from.sizeOrZero() == to.sizeOrZero():
	default:
		return v, e.fail(n.At, "Invalid reinterpret_cast")
	}
	i, err := v.Int()
	if err != nil {
		return v, e.because(n.Args[0].At, err)
	}
	if address(to.Kind) {
		return e.pointer(t, uint64(i)), nil
	}
	return t.constant(i), nil
}

// dynamicCast evaluates dynamic_cast by the type that the object's table of virtual functions
// tells.
func (e *evaluation) dynamicCast(n *syntax.Node, t *Type) (Value, error) {
	to := t.Strip()
	pointer := to.Kind == Pointer
	if !pointer && to.Kind != Reference && to.Kind != RvalueReference {
		return Value{}, e.fail(n.At, "Argument to dynamic_cast must be a pointer or reference type")
	}
	class := to.Elem().Strip()
	if class.Kind != Struct && class.Kind != Void {
		return Value{}, e.fail(n.At, "Argument to dynamic_cast must be pointer to class or `void *'")
	}
	v, err := e.value(n.Args[0])
	if err != nil {
		return v, err
	}
	v = referred(v)
	o := v
	if pointer {
		from := v.Type.Strip()
		switch {
		case from.Kind == Pointer && from.Elem().Strip().Kind == Struct:
		case from.Kind == Pointer:
			return v, e.fail(n.Args[0].At, "Argument to dynamic_cast does not have pointer to class type")
		default:
			if i, err := v.Int(); err != nil || !v.isInteger() || i != 0 {
				return v, e.fail(n.Args[0].At, "Argument to dynamic_cast does not have pointer type")
			}
			return e.pointer(t, 0), nil
		}
		addr, err := v.Uint()
		if err != nil {
			return v, e.because(n.Args[0].At, err)
		}
		if addr == 0 {
			return e.pointer(t, 0), nil
		}
		o = v.Deref()
	} else if o.Type.Strip().Kind != Struct {
		return v, e.fail(n.Args[0].At, "Argument to dynamic_cast does not have class type")
	}
	own := o.Type.Strip()
	if own.FullName() == class.FullName() {
		return e.pointer(t, o.Addr), nil
	}
	if class.Kind == Struct {
		if paths := basePaths(own, class.FullName(), 0); len(paths) == 1 {
			up := o.path(paths[0])
			if up.err != nil {
				return v, e.because(n.At, up.err)
			}
			return e.pointer(t, up.Addr), nil
		}
	}
	whole, ok, err := e.mostDerived(&o)
	if err != nil {
		return v, e.because(n.Args[0].At, err)
	}
	if !ok {
		return v, e.fail(n.Args[0].At, "Couldn't determine value's most derived type for dynamic_cast")
	}
	if class.Kind == Void || whole.Type.Strip().FullName() == class.FullName() {
		return e.pointer(t, whole.Addr), nil
	}
	if paths := basePaths(whole.Type.Strip(), class.FullName(), 0); len(paths) == 1 {
		if part := whole.path(paths[0]); part.err == nil {
			return e.pointer(t, part.Addr), nil
		}
	}
	if pointer {
		return e.pointer(t, 0), nil
	}
	return v, e.fail(n.At, "dynamic_cast failed")
}

// mostDerived returns the object that v is a part of, by the table of virtual functions to which it
// points (Itanium C++ ABI, 2.5). ok is false if v has none, or if its class is not known.
func (e *evaluation) mostDerived(v *Value) (whole Value, ok bool, err error) {
	if v.Place != InMemory || !v.Type.Strip().hasTable(0) {
		return whole, false, nil
	}
	word := e.r.basic("long")
	table := e.at(word, v.Addr)
	addr, err := table.Uint()
	if err != nil {
		return whole, false, err
	}
	name, _, found := e.r.SymbolAt(addr)
	class, isTable := strings.CutPrefix(name, "vtable for ")
	if !found || !isTable {
		return whole, false, nil
	}
	top := e.at(word, addr-2*uint64(e.r.Arch.PtrSize))
	offset, err := top.Int()
	if err != nil {
		return whole, false, err
	}
	t := e.typeCalled("::"+class, nil)
	if t == nil || t.Strip().Kind != Struct || t.Strip().Declared {
		return whole, false, nil
	}
	return e.at(t, v.Addr+uint64(offset)), true, nil
}

// hasTable reports whether objects of a class begin with a pointer to a table of virtual functions.
func (t *Type) hasTable(depth int) bool {
	if depth > maxClasses {
		return false
	}
	for _, f := range t.Fields() {
		switch {
		case f.Virtual, strings.HasPrefix(f.Name, "_vptr"):
			return true
		case f.Base && f.Offset == 0 && f.Type.Strip().hasTable(depth+1):
			return true
		}
	}
	return false
}
