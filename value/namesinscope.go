package value

import (
	"debug/dwarf"
	"slices"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// ofClass returns a static member, an enumerator or a method of a class.
func (e *evaluation) ofClass(class, name string) (v Value, ok bool) {
	t := e.typeCalled(class, nil)
	if t == nil {
		return v, false
	}
	switch t = t.Strip(); t.Kind {
	case Enum:
		for _, x := range t.Enumerators() {
			if _, last := splitName(x.Name); last == name {
				return t.constant(x.Value), true
			}
		}
	case Struct, Union:
		if path := fieldPath(t, name, 0); path != nil && path[len(path)-1].Static {
			o := e.at(t, 0)
			return o.Field(path[len(path)-1]), true
		}
		if t.entry == nil {
			break
		}
		kids, err := t.entry.Children()
		if err != nil {
			break
		}
		for _, k := range kids {
			if k.Tag == dwarf.TagEnumerationType {
				inner := e.r.typeAt(k.Ref)
				for _, x := range inner.Enumerators() {
					if _, last := splitName(x.Name); last == name {
						return inner.constant(x.Value), true
					}
				}
			}
		}
		return e.method(t, name)
	}
	return v, false
}

// ofFunction returns a variable with a place of its own of a function of the unit:
// function::variable.
func (e *evaluation) ofFunction(name string, m *target.Module) (v Value, ok bool) {
	scope, last := splitName(name)
	unit := e.unitRef()
	if scope == "" || unit.IsZero() {
		return v, false
	}
	outer, function := splitName(strings.TrimSuffix(scope, "::"))
	for _, prefix := range e.scopesOf(false) {
		for _, h := range inScope(e.r.find(findKey{unit: unit, name: function}), prefix+outer, func(tag dwarf.Tag) bool { return tag == dwarf.TagSubprogram }) {
			if k, err := e.r.Symbols.Entry(h.Ref); err == nil {
				if v, ok := e.within(k, last, m, 0); ok {
					return v, true
				}
			}
		}
	}
	return v, false
}

// within returns a variable that is declared in a function or block, and has the same place in all
// calls.
func (e *evaluation) within(block *symbol.Entry, name string, m *target.Module, depth int) (v Value, ok bool) {
	kids, err := block.Children()
	if err != nil || depth > maxNames {
		return v, false
	}
	for _, k := range kids {
		switch k.Tag {
		case dwarf.TagVariable:
			if k.Text(dwarf.AttrName) == name && k.Has(dwarf.AttrLocation) {
				if x, err := k.Expression(dwarf.AttrLocation, 0); err == nil && x != nil && isFixed(x.Code) {
					return e.contextOf(m).locate(k, e.r.typeOf(k), nil), true
				}
			}
		case dwarf.TagLexDwarfBlock:
			if v, ok = e.within(k, name, m, depth+1); ok {
				return v, true
			}
		}
	}
	return v, false
}

// isFixed reports whether a location does not depend on the frame: it begins with an address.
func isFixed(code []byte) bool {
	return len(code) > 0 && slices.Contains([]byte{dwarfdata.OpAddr, dwarfdata.OpAddrx, dwarfdata.OpGNUAddrIndex}, code[0])
}

// dotted returns the variable of a package of Go that operand.name is; ok is false if it is none.
func (e *evaluation) dotted(n *syntax.Node) (v Value, ok bool, err error) {
	first := n.Args[0]
	if e.f.Language != "go" || first.Kind != syntax.Name || first.File != "" || e.local(first.Text) != nil {
		return v, false, nil
	}
	name := first.Text + "." + n.Text
	find := func(key findKey, m *target.Module) bool {
		key.name = name
		for _, h := range inScope(e.r.find(key), "", isValueTag) {
			if v, ok = e.hitValue(&h, m); ok {
				return true
			}
		}
		return false
	}
	m := e.module()
	if unit := e.unitRef(); !unit.IsZero() && find(findKey{unit: unit}, m) || find(findKey{module: m}, m) {
		v, err = e.located(v, n.At)
		return v, true, err
	}
	return v, false, nil
}
