package value

import (
	"debug/dwarf"
	"slices"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
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
	isParameter := func(p *Type, name string) bool { return p.parameterName() == name }
	modules := e.modules()
	for _, full := range e.wholeNames(text, global) {
		for _, c := range e.functions(full, modules) {
			if c.code && slices.EqualFunc(c.params, want, isParameter) {
				return c.function, nil
			}
		}
	}
	return Value{}, e.missing(n.At, "No symbol \"%s(%s)\" in current context.", text, strings.Join(want, ", "))
}

// candidate is one of the functions that a name may mean.
type candidate struct {
	function Value
	params   []*Type // without the object of a method
	more     bool    // any number of arguments may follow
	this     *Type   // of a method: the type of the pointer to its object
	code     bool    // the program has code of it
	key      string  // the names of its parameters' types: candidates with one key are one function
}

func (e *evaluation) candidate(function Value, code bool) candidate {
	c := candidate{function: function, code: code}
	t := function.Type
	c.params, c.more = t.Parameters()
	if t.entry != nil && len(c.params) > 0 && t.method() {
		c.this, c.params = c.params[0], c.params[1:]
	}
	var key strings.Builder
	if c.this != nil {
		key.WriteString(c.this.parameterName())
	}
	for _, p := range c.params {
		key.WriteString("," + p.parameterName())
	}
	if c.more {
		key.WriteString(",...")
	}
	c.key = key.String()
	return c
}

// signature returns the candidate as C++ writes it: f(int, char const*) const.
func (c *candidate) signature(name string) string {
	var list []string
	for _, p := range c.params {
		list = append(list, p.String())
	}
	if c.more {
		list = append(list, "...")
	}
	end := ""
	if c.this != nil {
		if constant, _ := c.this.Strip().Elem().qualifiers(); constant {
			end = " const"
		}
	}
	return name + "(" + strings.Join(list, ", ") + ")" + end
}

// maxCandidates bounds the functions among which a call chooses.
const maxCandidates = 256

// joined appends candidates to others. Of two with the same parameters, the first one stays, unless
// only the second one has code.
func joined(list, more []candidate) []candidate {
	for _, c := range more {
		switch i := slices.IndexFunc(list, func(o candidate) bool { return o.key == c.key }); {
		case i >= 0 && c.code && !list[i].code:
			list[i] = c
		case i < 0 && len(list) < maxCandidates:
			list = append(list, c)
		}
	}
	return list
}

// functions returns the functions of a whole name of which debug information tells: in the unit, in
// a class, in modules.
func (e *evaluation) functions(full string, modules []*target.Module) (list []candidate) {
	scope, last := splitName(full)
	find := func(key findKey, m *target.Module) {
		key.name = last
		var found []candidate
		for _, h := range inScope(e.r.find(key), scope, func(tag dwarf.Tag) bool { return tag == dwarf.TagSubprogram }) {
			v, ok := e.hitValue(&h, m)
			if v.Type != nil {
				found = append(found, e.candidate(v, ok))
			}
		}
		list = joined(list, found)
	}
	if unit := e.unitRef(); !unit.IsZero() {
		find(findKey{unit: unit}, e.module())
	}
	if scope != "" {
		isClass := func(tag dwarf.Tag) bool {
			return isClassTag(tag) || tag == dwarf.TagUnionType || tag == dwarf.TagTypedef
		}
		if class := e.typeCalled("::"+strings.TrimSuffix(scope, "::"), isClass); class != nil {
			list = joined(list, e.methods(class.Strip(), last, 0))
		}
	}
	for i, m := range modules {
		find(findKey{module: m, sure: i == 0 && scope != ""}, m)
	}
	return list
}

// methods returns the methods of a name that a class has, or its bases, if the program has no code
// of its own ones.
func (e *evaluation) methods(t *Type, name string, depth int) (list []candidate) {
	if t.entry == nil || depth > maxClasses {
		return nil
	}
	kids, err := t.entry.Children()
	if err != nil {
		return nil
	}
	code := false
	for _, k := range kids {
		if k.Tag == dwarf.TagSubprogram && k.Text(dwarf.AttrName) == name && len(list) < maxCandidates {
			addr, ok := e.symbolOf(k, true, nil)
			list = append(list, e.candidate(e.at(e.r.typeAt(k.Ref), addr), ok))
			code = code || ok
		}
	}
	if code {
		return list
	}
	for _, f := range t.Fields() {
		if f.Base {
			list = joined(list, e.methods(f.Type.Strip(), name, depth+1))
		}
	}
	return list
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
