package value

import (
	"debug/dwarf"
	"math/bits"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
)

// goTypes has the types of a unit by the offset of their description in the program. Go's linker writes all types of a program into
// one unit.
type goTypes map[uint64]symbol.Ref

// goDynamic returns the type whose description (runtime._type) is at an address, nil if it is not known; direct says that an
// interface has its values themselves instead of pointers to them.
func (v *Value) goDynamic(addr uint64) (t *Type, direct bool) {
	r := v.Type.r
	b := make([]byte, 2*r.Arch.PtrSize+8)
	if v.Type.entry == nil || v.readMemory(addr, b) != nil {
		return nil, false
	}
	const flag = 0x20 // of Kind_ and, since Go 1.26, of TFlag
	direct = (b[2*r.Arch.PtrSize+4]|b[2*r.Arch.PtrSize+7])&flag != 0
	base := uint64(0)
	if r.goBases == nil {
		r.goBases = append([]uint64{}, r.Symbols.Named(r.Modules, nil, "runtime.types")...)
	}
	for _, x := range r.goBases {
		if x <= addr && x > base {
			base = x
		}
	}
	// The type of a parameter is in the unit of its function; the type that it stands for is where all types are.
	_, at := goKindOf(v.Type)
	if at.entry == nil || base == 0 {
		return nil, false
	}
	ref, ok := r.goTypesOf(at.entry)[addr-base]
	if !ok {
		return nil, false
	}
	return r.typeAt(ref), direct
}

// goTypesOf returns the types of the unit that an entry is in.
func (r *Reader) goTypesOf(e *symbol.Entry) goTypes {
	root := e.Root()
	if list, ok := r.goUnits[root]; ok {
		return list
	}
	list := make(goTypes)
	if r.goUnits == nil || len(r.goUnits) > maxGoUnits {
		r.goUnits = make(map[symbol.Ref]goTypes)
	}
	r.goUnits[root] = list
	unit, err := r.Symbols.Entry(root)
	if err != nil {
		return list
	}
	kids, err := unit.Children()
	if err != nil {
		return list
	}
	for _, k := range kids {
		n, ok := k.Address(attrGoType)
		if !ok {
			n, ok = k.Constant(attrGoType)
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

// goConstantsOf returns the constants of the unit that an entry is in: those of one package.
func (r *Reader) goConstantsOf(e *symbol.Entry) goConstants {
	root := e.Root()
	if list, ok := r.goNames[root]; ok {
		return list
	}
	list := make(goConstants)
	if r.goNames == nil || len(r.goNames) > maxGoUnits {
		r.goNames = make(map[symbol.Ref]goConstants)
	}
	r.goNames[root] = list
	unit, err := r.Symbols.Entry(root)
	if err != nil {
		return list
	}
	kids, err := unit.Children()
	if err != nil {
		return list
	}
	const tagConstant dwarf.Tag = 0x27
	for _, k := range kids {
		if k.Tag != tagConstant {
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

// goConstant returns the name of the constant that a number of a type is, or of those that it is made of: "a|b"; "" if there is
// none. It knows the constants of the package that the frame's function is in.
func (v *Value) goConstant(n int64) string {
	name := goTypeName(v.Type)
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || v.Type.entry == nil || v.frame == nil || len(v.frame.scopes.list) == 0 || strings.HasPrefix(name, "C.") {
		return ""
	}
	list := v.Type.r.goConstantsOf(v.frame.scopes.list[0].Entry)[v.Type.entry.Ref]
	prefix := name[:dot+1]
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
