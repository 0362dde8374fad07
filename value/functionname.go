package value

import (
	"debug/dwarf"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// functionAt returns the name of the function at an address, and where the function begins, if
// debug information has one: of several symbols with one address, the one that was meant; in C++
// without the type of the result; without a linkage name, what GDB makes of the parameters.
func (r *Reader) functionAt(addr uint64) (name string, start uint64) {
	scopes, bias, err := r.Symbols.Scopes(r.Modules, addr)
	if err != nil {
		return "", 0
	}
	if len(scopes) == 0 || scopes[0].Language() != "c++" { // an assembler's functions have no scopes
		list := r.Symbols.Locate(r.Modules, addr)
		if f := list[len(list)-1]; f.Entry != 0 && f.Entry <= addr {
			return f.Function, f.Entry
		}
		return "", 0 // a part that is elsewhere has a symbol of its own
	}
	low, ok := scopes[0].Address(dwarf.AttrLowpc)
	if !ok {
		list := r.Symbols.Locate(r.Modules, addr)
		f := &list[len(list)-1]
		if f.Entry == 0 || f.Entry != f.Start {
			return "", 0 // a part that is elsewhere has a symbol of its own
		}
		low = f.Entry - bias
	}
	e := scopes[0].Entry
	for e = range r.described(e) {
		if linkage := linkageName(e); linkage != "" {
			return symbol.DemangleFunction(linkage), low + bias
		}
		if name = e.Text(dwarf.AttrName); name != "" {
			break
		}
	}
	if name == "" {
		return "", 0
	}
	t := &Type{Kind: Function, r: r, entry: e}
	parameters, dots := t.Parameters()
	var list []string
	end := ""
	for i, p := range parameters {
		if i == 0 && t.method() { // this is not among them
			if p.Kind == Pointer && p.Elem().Kind == Const || p.Kind == Const && p.Elem().Kind == Pointer && p.Elem().Elem().Kind == Const {
				end = " const"
			}
			continue
		}
		list = append(list, p.String())
	}
	if dots {
		list = append(list, "...")
	}
	return symbol.CanonicalFunction(e.Prefix()+name, list, end), low + bias
}

// method reports whether the first parameter of a function is its object.
func (t *Type) method() bool {
	list, err := t.entry.Children()
	if err != nil {
		return false
	}
	for _, k := range list {
		if k.Tag == dwarf.TagFormalParameter {
			return k.Flag(dwarf.AttrArtificial)
		}
	}
	return false
}

// linkageName returns the name by which linkers know the entry; "" if it has none.
func linkageName(e *symbol.Entry) string {
	if name := e.Text(dwarf.AttrLinkageName); name != "" {
		return name
	}
	return e.Text(dwarfdata.AttrMIPSLinkageName)
}
