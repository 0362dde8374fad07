package rust

import (
	"debug/dwarf"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
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
// methods. Debug information has the table as a variable; else the method that polls the future has
// the type for a parameter. It is nil if that is not known.
func (r *program) futureOf(table, poll uint64) *value.Type {
	if t, ok := r.tables[table]; ok {
		return t
	}
	if len(r.tables) >= mostShapes {
		clear(r.tables)
	}
	var t *value.Type
	if r.described == nil {
		r.described = r.describedTables()
	}
	if ref, ok := r.described[table]; ok {
		t = r.types.TypeAt(ref).Strip()
	} else if c := r.codeAt(poll); c.self != nil {
		if to, ok := pointee(c.self); ok && to.typ.FullName() != contextName {
			t = to.typ
		}
	}
	r.tables[table] = t
	return t
}

// describedTables returns the types whose tables of methods are variables in debug information, by
// the addresses of the tables: the table's own type has the other one for its containing type.
func (r *program) describedTables() map[uint64]symbol.Ref {
	const most = 1 << 17
	_, bias, err := r.module.PeekImage()
	if err != nil {
		return map[uint64]symbol.Ref{}
	}
	work := mostEntries
	s := symbol.Search{Name: "::{vtable}", Ends: true, Tag: dwarf.TagVariable, Most: most, Work: &work}
	hits, _ := s.InModule(r.symbols, r.module) // what was found so far counts
	of := make(map[uint64]symbol.Ref, len(hits))
	for _, h := range hits {
		e, err := r.symbols.Entry(h.Ref)
		if err != nil {
			continue
		}
		at, ok := addressOf(e)
		if !ok {
			continue
		}
		if t, err := r.symbols.Entry(e.Reference(dwarf.AttrType)); err == nil && t.Has(dwarf.AttrContainingType) {
			of[at+bias] = t.Reference(dwarf.AttrContainingType)
		}
	}
	return of
}

// addressOf returns the link-time address of a variable that is at a fixed one.
func addressOf(e *symbol.Entry) (addr uint64, ok bool) {
	x, err := e.Expression(dwarf.AttrLocation, 0)
	if err != nil || x == nil || len(x.Code) == 0 {
		return 0, false
	}
	const opAddr, opAddrx, gnuAddr = 0x03, 0xa1, 0xfb
	in := dwarfdata.New(x.Code[1:], x.Order)
	switch x.Code[0] {
	case opAddr:
		addr = in.Uint(x.AddrSize)
	case opAddrx, gnuAddr:
		if addr, err = x.Address(in.ULEB128()); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	return addr, !in.Bad && !in.More()
}
