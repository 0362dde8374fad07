package value

import (
	"debug/dwarf"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/symbol"
)

// overloaded evaluates the name of a function with the types of its parameters: f(int).
func (e *evaluation) overloaded(n *syntax.Node) (Value, error) {
	var want []string
	for _, p := range n.Parameters {
		t, err := e.typeNamed(p)
		if err != nil {
			return Value{}, err
		}
		if t.Kind == Void && len(n.Parameters) == 1 {
			break
		}
		want = append(want, t.parameterName())
	}
	text, global := strings.CutPrefix(n.Text, "::")
	matches := func(t *Type, method bool) bool {
		list, _ := t.Parameters()
		if method && len(list) > 0 {
			list = list[1:]
		}
		if len(list) != len(want) {
			return false
		}
		for i, p := range list {
			if p.parameterName() != want[i] {
				return false
			}
		}
		return true
	}
	names := e.wholeNames(text, global)
	among := func(key findKey) (Value, bool) {
		for _, full := range names {
			scope, last := splitName(full)
			key.name = last
			for _, h := range inScope(e.r.find(key), scope, func(tag dwarf.Tag) bool { return tag == dwarf.TagSubprogram }) {
				m := key.module
				if m == nil {
					m = e.module()
				}
				if v, ok := e.hitValue(&h, m); ok && matches(v.Type, false) {
					return v, true
				}
			}
		}
		return Value{}, false
	}
	if unit := e.unitRef(); !unit.IsZero() {
		if v, ok := among(findKey{unit: unit}); ok {
			return v, nil
		}
	}
	for _, full := range names {
		scope, last := splitName(full)
		if scope == "" {
			continue
		}
		class := e.typeCalled(strings.TrimSuffix(scope, "::"), nil)
		if class == nil || class.Strip().entry == nil {
			continue
		}
		if kids, err := class.Strip().entry.Children(); err == nil {
			for _, k := range kids {
				if k.Tag != dwarf.TagSubprogram || k.Text(dwarf.AttrName) != last {
					continue
				}
				t := e.r.typeAt(k.Ref)
				if addr, ok := e.symbolOf(k, true, nil); ok && matches(t, k.Has(dwarf.AttrObjectPointer)) {
					return e.at(t, addr), nil
				}
			}
		}
	}
	for i, m := range e.modules() {
		if v, ok := among(findKey{module: m, sure: i == 0}); ok {
			return v, nil
		}
	}
	return Value{}, e.missing(n.At, "No symbol \"%s(%s)\" in current context.", text, strings.Join(want, ", "))
}

// parameterName returns the name by which the types of parameters are compared: that without
// qualifiers of the parameter itself (C++20, [dcl.fct] 5).
func (t *Type) parameterName() string {
	return spaceless(symbol.CanonicalType(t.Unqualified().String()))
}

// isValue reports whether a name with template arguments is a function or variable.
func (e *evaluation) isValue(name string) bool {
	_, ok, _ := e.global(name, false)
	return ok
}
