package value

import (
	"debug/dwarf"
	"math/bits"
	"slices"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// goTypes has the types of a unit by the offset of their description in the program. Go's linker
// writes all types of a program into one unit.
type goTypes map[uint64]symbol.Ref

// goKept are the types and constants of Go that were read.
type goKept struct {
	types     map[symbol.Ref]goTypes      // by the units' first entries
	constants map[symbol.Ref]goConstants  // the same
	packages  map[goPackage]symbol.Ref    // the units of packages
	bases     map[*target.Module][]uint64 // where the descriptions of types begin in a module
}

// goPackage is a package in the debug information of one file. Several libraries of a process may
// have packages of one name.
type goPackage struct {
	file   symbol.Ref
	prefix string // the package's path, with a point
}

// goDynamic returns the type whose description (runtime._type) is at an address, nil if it is not
// known; direct says that an interface has its values themselves instead of pointers to them.
func (v *Value) goDynamic(addr uint64) (t *Type, direct bool) {
	r := v.Type.r
	b := make([]byte, 2*r.Arch.PtrSize+8)
	if v.Type.entry == nil || v.ReadMemory(addr, b) != nil {
		return nil, false
	}
	const flag = 0x20 // of Kind_ and, since Go 1.26, of TFlag
	direct = (b[2*r.Arch.PtrSize+4]|b[2*r.Arch.PtrSize+7])&flag != 0
	base := uint64(0)
	for _, x := range r.goBases(addr) {
		if x <= addr && x > base {
			base = x
		}
	}
	// The type of a parameter is in the unit of its function; the type that it stands for is where
	// all types are.
	_, at := v.Type.GoKind()
	if at.entry == nil || base == 0 {
		return nil, false
	}
	ref, ok := r.goTypesOf(at.entry)[addr-base]
	if !ok {
		return nil, false
	}
	return r.typeAt(ref), direct
}

// goBases returns where the descriptions of types begin in the module that has the one at an
// address.
func (r *Reader) goBases(addr uint64) []uint64 {
	m := r.Modules.Find(addr)
	if m == nil {
		return nil
	}
	list, known := r.golang.bases[m]
	if !known {
		if r.golang.bases == nil || len(r.golang.bases) > maxGoUnits {
			r.golang.bases = make(map[*target.Module][]uint64)
		}
		list = r.Symbols.Named(r.Modules, m, "runtime.types")
		r.golang.bases[m] = list
	}
	return list
}

// goTypesOf returns the types of the unit that an entry is in.
func (r *Reader) goTypesOf(e *symbol.Entry) goTypes {
	root := e.Root()
	if list, ok := r.golang.types[root]; ok {
		return list
	}
	list := make(goTypes)
	if r.golang.types == nil || len(r.golang.types) > maxGoUnits {
		r.golang.types = make(map[symbol.Ref]goTypes)
	}
	r.golang.types[root] = list
	unit, err := r.Symbols.Entry(root)
	if err != nil {
		return list
	}
	kids, err := unit.Children()
	if err != nil {
		return list
	}
	for _, k := range kids {
		n, ok := k.Address(dwarfdata.AttrGoType)
		if !ok {
			n, ok = k.Constant(dwarfdata.AttrGoType)
		}
		if ok && n != 0 {
			if _, twice := list[n]; !twice {
				list[n] = k.Ref
			}
		}
	}
	return list
}

// maxGoUnits bounds the units whose types and constants are kept.
const maxGoUnits = 64

// goConstants are the constants of a unit by their type, in the order of their values.
type goConstants map[symbol.Ref][]Enumerator

// goConstantsOf returns the constants of a unit: one package's.
func (r *Reader) goConstantsOf(root symbol.Ref) goConstants {
	if list, ok := r.golang.constants[root]; ok {
		return list
	}
	list := make(goConstants)
	if r.golang.constants == nil || len(r.golang.constants) > maxGoUnits {
		r.golang.constants = make(map[symbol.Ref]goConstants)
	}
	r.golang.constants[root] = list
	unit, err := r.Symbols.Entry(root)
	if err != nil {
		return list
	}
	kids, err := unit.Children()
	if err != nil {
		return list
	}
	for _, k := range kids {
		if k.Tag != dwarf.TagConstant {
			continue
		}
		if n, ok := k.Constant(dwarf.AttrConstValue); ok {
			of := k.Reference(dwarf.AttrType)
			list[of] = append(list[of], Enumerator{k.Text(dwarf.AttrName), int64(n)})
		}
	}
	for _, of := range list {
		slices.SortFunc(of, func(a, b Enumerator) int {
			switch {
			case a.Value < b.Value:
				return -1
			case a.Value > b.Value:
				return 1
			}
			return 0
		})
	}
	return list
}

// GoConstant returns the name of the constant that a number of a type is, or of the constants that
// it is made of: "a|b"; "" if there is none. It knows the constants of the package that the frame's
// function is in, and of packages that have an initializer.
func (v *Value) GoConstant(n int64) string {
	name := v.Type.Name
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || v.Type.entry == nil || strings.HasPrefix(name, "C.") || strings.ContainsAny(name, "[{") {
		return ""
	}
	prefix := name[:dot+1]
	list := v.Type.r.goConstantsOf(v.goUnit(prefix))[v.Type.entry.Ref]
	for _, c := range list {
		if c.Value == n {
			return strings.TrimPrefix(c.Name, prefix)
		}
	}
	var names []string
	for _, c := range list {
		if bits.OnesCount64(uint64(c.Value)) == 1 && n&c.Value != 0 {
			names = append(names, strings.TrimPrefix(c.Name, prefix))
			n &^= c.Value
		}
	}
	if n != 0 {
		return ""
	}
	return strings.Join(names, "|")
}

// goUnit returns the first entry of a package's unit. prefix is the package's path, with a point.
func (v *Value) goUnit(prefix string) symbol.Ref {
	r := v.Type.r
	key := goPackage{v.Type.entry.Ref.File(), prefix}
	if ref, ok := r.golang.packages[key]; ok {
		return ref
	}
	var ref symbol.Ref
	if v.frame != nil && len(v.frame.scopes.list) > 0 {
		if f := v.frame.scopes.list[0].Entry; strings.HasPrefix(f.Text(dwarf.AttrName), prefix) {
			ref = f.Root()
		}
	}
	if ref.IsZero() {
		var own *target.Module
		if v.frame != nil {
			own = r.Modules.Find(v.frame.pc + v.frame.scopes.bias)
		}
		for _, addr := range r.Symbols.Named(r.Modules, own, prefix+"init") {
			if s := r.at(addr); len(s.list) > 0 {
				ref = s.list[0].Root()
			}
		}
	}
	if r.golang.packages == nil || len(r.golang.packages) > maxTypes {
		r.golang.packages = make(map[goPackage]symbol.Ref)
	}
	r.golang.packages[key] = ref
	return ref
}
