package rust

import (
	"debug/dwarf"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/value"
)

// code is what debug information says of a function to which a table leads.
type code struct {
	name    string        // with its scope and its generic arguments; "" if nothing is known
	generic []*value.Type // its generic arguments
	// cell is what the variable "harness" points to, which the functions of tokio's tables begin
	// with: the task. It is nil if there is none.
	cell *value.Type
	self *value.Type // of the first parameter; nil if there is none
}

// codeAt returns what is known of the function that is entered at an address.
func (r *program) codeAt(entry uint64) code {
	if c, ok := r.codes[entry]; ok {
		return c
	}
	if len(r.codes) >= mostShapes {
		clear(r.codes)
	}
	c := r.readCode(entry)
	r.codes[entry] = c
	return c
}

func (r *program) readCode(entry uint64) (c code) {
	if !r.modules.IsCode(entry) {
		return c
	}
	scopes, _, err := r.symbols.Scopes(r.modules, entry)
	if err != nil || len(scopes) == 0 {
		return c
	}
	for _, e := range r.origins(scopes[0].Entry) {
		if name := e.Text(dwarf.AttrName); name != "" && c.name == "" {
			c.name = e.Prefix() + name
		}
		kids, err := e.Children()
		if err != nil {
			continue
		}
		generic := len(c.generic) == 0
		for _, k := range kids {
			switch {
			case k.Tag == dwarf.TagTemplateTypeParameter && generic:
				c.generic = append(c.generic, r.types.TypeOf(k))
			case k.Tag == dwarf.TagFormalParameter && c.self == nil:
				for _, k := range r.origins(k) {
					if k.Has(dwarf.AttrType) {
						c.self = r.types.TypeOf(k).Strip()
						break
					}
				}
			}
		}
	}
	for i := range scopes {
		for _, e := range append(scopes[i].Entries, inside(scopes[i].Others)...) {
			for _, k := range r.origins(e) {
				if k.Tag == dwarf.TagVariable && k.Text(dwarf.AttrName) == "harness" && c.cell == nil {
					if to, ok := pointee(r.types.TypeOf(k)); ok && plain(to.typ.FullName()) == cellName {
						c.cell = to.typ
					}
				}
			}
		}
	}
	if args := strings.IndexByte(c.name, '<'); c.cell == nil && args >= 0 && len(c.generic) > 0 {
		if t := r.types.TypeNamed(cellName+c.name[args:], c.generic[0]); t != nil {
			c.cell = t.Strip()
		}
	}
	return c
}

// inside returns the entries of blocks.
func inside(blocks []*symbol.Entry) (list []*symbol.Entry) {
	for _, b := range blocks {
		if kids, err := b.Children(); err == nil {
			list = append(list, kids...)
		}
	}
	return list
}

// origins returns an entry and the entries that it is made from.
func (r *program) origins(e *symbol.Entry) (list []*symbol.Entry) {
	const most = 4
	for e != nil && len(list) < most {
		list = append(list, e)
		next := e.Reference(dwarf.AttrAbstractOrigin)
		if next.IsZero() {
			next = e.Reference(dwarf.AttrSpecification)
		}
		if next.IsZero() {
			break
		}
		e, _ = r.symbols.Entry(next)
	}
	return list
}

// futureOf returns the type of the future that a pointer to "dyn Future" leads to, by its table of
// methods: the method that polls it has it for a parameter. It is nil if that is not known.
func (r *program) futureOf(table, poll uint64) *value.Type {
	if t, ok := r.tables[table]; ok {
		return t
	}
	if len(r.tables) >= mostShapes {
		clear(r.tables)
	}
	var t *value.Type
	if c := r.codeAt(poll); c.self != nil {
		if to, ok := pointee(c.self); ok {
			t = to.typ
		}
	}
	r.tables[table] = t
	return t
}
