package value

import (
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// member evaluates operand.name and operand->name. As GDB, it follows pointers and references in
// both forms.
func (e *evaluation) member(n *syntax.Node) (Value, error) {
	if v, ok, err := e.dotted(n); ok || err != nil {
		return v, err
	}
	v, err := e.value(n.Args[0])
	if err != nil {
		return v, err
	}
	if v, err = e.owner(v, n); err != nil {
		return v, err
	}
	if e.f.Language == "go" {
		if x, ok := v.goPromoted(n.Text); ok {
			return x, nil
		}
	}
	what := "structure"
	if n.Arrow {
		what = "structure pointer"
	}
	return e.memberOf(&v, n.Text, what, n.At)
}

// owner returns the object that has the member of a node: behind pointers, references, and smart
// pointers if it is written with ->.
func (e *evaluation) owner(v Value, n *syntax.Node) (Value, error) {
	var err error
	for range maxNames {
		t := v.Type.Strip()
		if t.Kind == Array && v.Place == InMemory && !t.Vector {
			if v, err = e.decayed(v, n.At); err != nil {
				return v, err
			}
			continue
		}
		if t.Kind != Pointer && t.Kind != Reference && t.Kind != RvalueReference {
			break
		}
		if t.Elem().Strip().Kind == Void {
			return v, e.generic(n.At)
		}
		to := v.Deref()
		if to.err != nil && len(v.gaps) == 0 {
			return v, e.because(n.At, to.err)
		}
		v = to
	}
	if n.Arrow || e.f.Language == "rust" && memberPaths(v.Type.Strip(), n.Text, 0) == nil {
		if to, ok, err := e.pointedTo(&v, n.At); err != nil {
			return v, err
		} else if ok {
			v = referred(to)
		}
	}
	if e.f.Language == "rust" { // an enum has the members of its variant
		if _, is, ok, err := v.Variant(); ok {
			if err != nil {
				return v, e.because(n.At, err)
			}
			if memberPaths(v.Type.Strip(), n.Text, 0) == nil {
				v = is
			}
		}
	}
	return v, nil
}

// memberOf returns a member of an object, or one of a base that is named before it: Base::name.
func (e *evaluation) memberOf(v *Value, name, what string, at int) (Value, error) {
	t := v.Type.Strip()
	if t.Kind != Struct && t.Kind != Union {
		return Value{}, e.fail(at, "Attempt to extract a component of a value that is not a %s.", what)
	}
	if t.Declared {
		return Value{}, e.fail(at, "%s is an incomplete type", v.Type)
	}
	if i := strings.LastIndex(name, "::"); i > 0 {
		base := name[:i]
		if t.FullName() != base && t.Name != base {
			var err error
			if v, err = e.baseOf(v, base, at); err != nil {
				return Value{}, err
			}
			t = v.Type.Strip()
		}
		name = name[i+2:]
	}
	paths := memberPaths(t, name, 0)
	if len(paths) == 0 && strings.Trim(name, "0123456789") == "" { // of a tuple of Rust
		paths = memberPaths(t, "__"+name, 0)
	}
	switch len(paths) {
	case 0:
	case 1:
		return v.path(paths[0]), nil
	default:
		return Value{}, e.fail(at, "%s", ambiguous(t, name, paths))
	}
	if m, ok := e.method(t, name); ok {
		return m, nil
	}
	return Value{}, e.fail(at, "There is no member named %s.", name)
}

// baseOf returns the part of an object that is of a base of its class.
func (e *evaluation) baseOf(v *Value, base string, at int) (*Value, error) {
	t := v.Type.Strip()
	paths := basePaths(t, base, 0)
	if len(paths) == 0 { // a name of another scope, or a way: Left::Root
		if of := e.typeCalled(base, nil); of != nil {
			paths = basePaths(t, of.Strip().FullName(), 0)
		}
		if outer, last := splitName(base); len(paths) == 0 && outer != "" {
			inner, err := e.baseOf(v, strings.TrimSuffix(outer, "::"), at)
			if err != nil {
				return nil, err
			}
			return e.baseOf(inner, last, at)
		}
	}
	switch len(paths) {
	case 0:
		return nil, e.fail(at, "base class '%s' is ambiguous or missing in type '%s'", base, t.FullName())
	case 1:
		part := v.path(paths[0])
		return &part, nil
	}
	return nil, e.fail(at, "base class '%s' is ambiguous in type '%s'", base, t.FullName())
}

// path returns the member that fields lead to, each within the one before.
func (v *Value) path(fields []*Field) Value {
	x := *v
	for _, f := range fields {
		if x.Place == InMemory && x.err == nil && !f.Static && !f.Virtual && f.Bits == 0 { // the rest of the object need not be there
			x = x.At(f.Type, x.Addr+uint64(f.Offset))
			continue
		}
		x = x.Field(f)
	}
	return x
}

// maxClasses bounds how deep classes and unnamed members are within each other.
const maxClasses = 32

// fieldPath returns the fields that lead to a member: through members without a name, then through
// bases.
func fieldPath(t *Type, name string, depth int) []*Field {
	if depth > maxClasses || t.Kind != Struct && t.Kind != Union {
		return nil
	}
	fields := t.Fields()
	for i := range fields {
		f := &fields[i]
		if f.Base {
			continue
		}
		if f.Name == name {
			return []*Field{f}
		}
		if f.Name == "" && !f.Static {
			if path := fieldPath(f.Type.Strip(), name, depth+1); path != nil {
				return append([]*Field{f}, path...)
			}
		}
	}
	for i := range fields {
		if f := &fields[i]; f.Base {
			if path := fieldPath(f.Type.Strip(), name, depth+1); path != nil {
				return append([]*Field{f}, path...)
			}
		}
	}
	return nil
}

// basePath returns the fields that lead to a base of a class.
func basePath(t *Type, name string, depth int) []*Field {
	if depth > maxClasses {
		return nil
	}
	fields := t.Fields()
	for i := range fields {
		f := &fields[i]
		if !f.Base {
			continue
		}
		base := f.Type.Strip()
		if base.FullName() == name || base.Name == name {
			return []*Field{f}
		}
		if path := basePath(base, name, depth+1); path != nil {
			return append([]*Field{f}, path...)
		}
	}
	return nil
}

// method returns a method of a class or of its bases as a function.
func (e *evaluation) method(t *Type, name string) (Value, bool) {
	for _, c := range e.methods(t, name, 0) {
		if c.code {
			return c.function, true
		}
	}
	return Value{}, false
}
