package value

import (
	"debug/dwarf"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// static returns the value of a static member of a class.
func (r *Reader) static(f *Field, of *Value) Value {
	v := Value{Type: f.Type, mem: of.mem, frame: of.frame}
	if f.entry.Has(dwarf.AttrConstValue) {
		return f.Type.constantOf(f.entry, of)
	}
	var address []uint64
	if name := linkageName(f.entry); name != "" {
		var m *target.Module
		if of.frame != nil {
			m = r.Modules.Find(of.frame.frame.AddressInBlock)
		}
		address = r.Symbols.Named(r.Modules, m, name)
	}
	if len(address) == 0 || f.Type.unbounded() { // the length of an array may be in its definition alone
		if k := r.staticDefinition(f, of); k != nil {
			v.Type = r.typeOf(r.typed(k))
			return of.frame.inner().locate(k, v.Type, nil)
		}
	}
	if len(address) > 0 {
		v.Place, v.Addr = InMemory, address[0]
		return v
	}
	v.err = ErrOptimizedOut
	return v
}

// staticDefinition returns the entry that defines a static member, nil if none tells where it is.
// Linkers know no variable of a thread, none of a namespace without a name, and after link-time
// optimization few others; until DWARF 5, only the definition has a linkage name.
func (r *Reader) staticDefinition(f *Field, of *Value) *symbol.Entry {
	if of.frame == nil {
		return nil
	}
	if list := of.frame.scopes.list; len(list) > 0 && list[0].File() != f.entry.File() {
		return nil // the frame cannot tell where another module's variables are
	}
	located := func(at symbol.Ref) *symbol.Entry {
		k, err := r.Symbols.Entry(at)
		if err != nil || !k.Has(dwarf.AttrLocation) && !k.Has(dwarf.AttrConstValue) {
			return nil
		}
		return k
	}
	if at, ok := r.importsOf(f.entry.Ref).defined[f.entry.Ref]; ok {
		if k := located(at); k != nil {
			return k
		}
	}
	class := of.Type.Strip().FullName()
	if class == "" {
		return nil
	}
	for _, h := range inScope(r.find(findKey{of: f.entry.File(), name: f.Name}), class+"::", isValueTag) {
		if k := located(h.Ref); k != nil {
			return k
		}
	}
	return nil
}
