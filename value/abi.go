package value

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// ABI returns the type as calling conventions want it. Ask it for what a function takes or returns.
// The error says why values of the type are not passed.
func (t *Type) ABI() (*abi.Type, error) {
	return (&abiTypes{r: t.r, made: map[*Type]*abi.Type{}}).of(t)
}

// ABIFunc returns the type of a function, or of functions that a pointer points to. Debug
// information does not tell which vectors the function takes in registers.
func (t *Type) ABIFunc() (*abi.Func, error) {
	list, dots := t.Parameters()
	f := &abi.Func{Variadic: dots, Unprototyped: !t.prototyped()}
	types := &abiTypes{r: t.r, made: map[*Type]*abi.Type{}}
	var err error
	if f.Result, err = types.of(t.Elem()); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	for i, p := range list {
		param, err := types.of(p)
		if err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
		f.Params = append(f.Params, param)
	}
	return f, nil
}

// prototyped reports whether callers of a function know the types of its parameters. They do, but
// of C's old style.
func (t *Type) prototyped() bool {
	if t.entry == nil {
		return t.parts == nil || !t.parts.unprototyped
	}
	if t.Language() != "c" {
		return true
	}
	for e := range t.r.described(t.entry) {
		if e.Flag(dwarf.AttrPrototyped) {
			return true
		}
	}
	return false
}

// abiTypes makes types of package abi, each once.
type abiTypes struct {
	r     *Reader
	made  map[*Type]*abi.Type // nil while the type is being made
	depth int
}

// maxABIDepth bounds types within each other.
const maxABIDepth = 64

// of returns a type as calling conventions want it.
func (x *abiTypes) of(t *Type) (*abi.Type, error) {
	t = t.Strip()
	made, seen := x.made[t]
	switch {
	case made != nil:
		return made, nil
	case seen, x.depth >= maxABIDepth:
		return nil, errors.New("a type that contains itself, or is nested too deep")
	}
	x.made[t] = nil
	x.depth++
	made, err := x.make(t)
	x.depth--
	if err != nil {
		delete(x.made, t)
		return nil, err
	}
	x.made[t] = made
	return made, nil
}

func (x *abiTypes) make(t *Type) (*abi.Type, error) {
	word := uint64(x.r.Arch.PtrSize)
	switch t.Kind {
	case Void:
		return &abi.Type{Kind: abi.Void}, nil
	case Bool, Char, Integer, Enum:
		if t.IsFixedPoint() {
			break
		}
		signed := t.Signed
		if t.Kind == Enum {
			signed = t.Elem().Strip().Signed
		}
		return &abi.Type{Kind: abi.Integer, Size: t.Size, Signed: signed}, nil
	case Pointer, Reference, RvalueReference, Unspecified, Function:
		return &abi.Type{Kind: abi.Pointer, Size: word}, nil
	case Float:
		if t.Encoding == dwarfdata.ATEDecimalFloat {
			break
		}
		return &abi.Type{Kind: x.float(t, t.Size), Size: t.Size}, nil
	case Complex:
		part := &abi.Type{Kind: x.float(t, t.Size/2), Size: t.Size / 2}
		return &abi.Type{Kind: abi.Complex, Size: t.Size, Elem: part}, nil
	case MemberPointer: // Itanium C++ ABI, 2.3
		one := &abi.Type{Kind: abi.Integer, Size: word, Signed: true}
		if t.Elem().Strip().Kind != Function {
			return one, nil
		}
		both := []abi.Member{{Type: one}, {Type: one, Offset: word}}
		return &abi.Type{Kind: abi.Struct, Size: 2 * word, Members: both}, nil
	case Array:
		return x.array(t)
	case Struct, Union:
		return x.object(t)
	case Unknown:
		if t.Encoding == dwarfdata.ATEGNUComplex {
			part := &abi.Type{Kind: abi.Integer, Size: t.Size / 2, Signed: true}
			return &abi.Type{Kind: abi.Complex, Size: t.Size, Elem: part}, nil
		}
	}
	return nil, fmt.Errorf("a value of type %s is not passed to functions", t)
}

// float returns the kind of a floating-point number of size bytes.
func (x *abiTypes) float(t *Type, size uint64) abi.Kind {
	if size > 8 && !strings.Contains(t.Name, "128") { // GCC's __float128 and _Float128
		return x.r.Arch.LongDouble
	}
	return abi.Float
}

// array returns the type of an array or a vector.
func (x *abiTypes) array(t *Type) (*abi.Type, error) {
	elem, err := x.of(t.Elem())
	if err != nil {
		return nil, err
	}
	b := t.Bounds()
	if elem.Size != 0 && b.Count > 1<<40/elem.Size {
		return nil, fmt.Errorf("an array of %d elements", b.Count)
	}
	of := &abi.Type{Kind: abi.Array, Elem: elem, Count: b.Count, Size: b.Count * elem.Size}
	if d := t.dimension; !t.Vector {
		of.Flexible = d != nil && !d.Has(dwarf.AttrCount) && !d.Has(dwarf.AttrUpperBound)
		return of, nil
	}
	of.Kind = abi.Vector
	if t.Size != 0 {
		of.Size = t.Size // of three elements, it is the size of four
	}
	return of, nil
}

// object returns the type of a struct, a class or a union.
func (x *abiTypes) object(t *Type) (*abi.Type, error) {
	switch {
	case t.Declared:
		return nil, fmt.Errorf("%s is an incomplete type", t)
	case t.read().variant != nil:
		return nil, fmt.Errorf("%s has variants, which are passed in a way that is not known", t)
	}
	of := &abi.Type{Kind: abi.Struct, Size: t.Size, Align: alignmentAsked(t.entry)}
	if t.Kind == Union {
		of.Kind = abi.Union
	}
	for _, f := range t.Fields() {
		if f.Static {
			continue
		}
		part, err := x.of(f.Type)
		if err != nil {
			return nil, err
		}
		m := abi.Member{Type: part, Align: alignmentAsked(f.entry), Offset: uint64(f.Offset)}
		if m.Align == 0 && part.Align == 0 {
			m.Align = typedefAlignment(f.Type)
		}
		if f.Bits != 0 {
			m.Offset, m.BitSize, m.BitOffset = 0, f.Bits, uint64(8*f.Offset)+f.BitOffset
		}
		of.Members = append(of.Members, m)
	}
	of.ByReference = x.byReference(t, of)
	return of, nil
}

// alignmentAsked returns the alignment that a declaration has asked for; 0 if it has not.
func alignmentAsked(e *symbol.Entry) (n uint64) {
	if e != nil {
		n, _ = e.Constant(dwarf.AttrAlignment)
	}
	return n
}

// typedefAlignment returns the alignment that a typedef asks for; 0 if none does.
func typedefAlignment(t *Type) uint64 {
	for range maxNames {
		if n := alignmentAsked(t.entry); n != 0 {
			return n
		}
		if t.Kind != Typedef {
			break
		}
		t = t.Elem()
	}
	return 0
}

// DW_CC_pass_by_reference and DW_CC_pass_by_value (DWARF 5, 7.15), which clang writes.
const (
	passByReference = 4
	passByValue     = 5
)

// inClass is DW_DEFAULTED_in_class: the compiler makes the method.
const inClass = 1

// byReference reports whether a class is not trivial for the purposes of calls (Itanium C++ ABI,
// 1.1): its entry tells, or else what it declares. of has the members.
func (x *abiTypes) byReference(t *Type, of *abi.Type) bool {
	if t.entry == nil {
		return false
	}
	switch how, _ := t.entry.Constant(dwarf.AttrCalling); how {
	case passByReference:
		return true
	case passByValue:
		return false
	}
	for _, m := range of.Members {
		part := m.Type
		for part.Kind == abi.Array {
			part = part.Elem
		}
		if part.ByReference {
			return true
		}
	}
	children, err := t.entry.Children()
	if err != nil {
		return false
	}
	class, _, _ := strings.Cut(t.Name, "<")
	copies, deleted := 0, 0
	for _, child := range children {
		if child.Tag != dwarf.TagSubprogram && child.Tag != dwarf.TagInheritance {
			continue
		}
		if n, _ := child.Constant(dwarf.AttrVirtuality); n != 0 {
			return true
		}
		method, _, _ := strings.Cut(child.Text(dwarf.AttrName), "<")
		constructor := child.Tag == dwarf.TagSubprogram && method == class && class != ""
		copying := constructor && x.copies(child, t)
		switch {
		case !copying && (child.Tag != dwarf.TagSubprogram || !strings.HasPrefix(method, "~")):
			continue
		case copying:
			copies++
		}
		if child.Flag(dwarf.AttrDeleted) {
			deleted++
			continue
		}
		how, _ := child.Constant(dwarf.AttrDefaulted)
		if !child.Flag(dwarf.AttrArtificial) && how != inClass {
			return true
		}
	}
	return copies > 0 && copies == deleted
}

// copies reports whether a constructor copies or moves a class: after the object, it takes a
// reference to one.
func (x *abiTypes) copies(constructor *symbol.Entry, class *Type) bool {
	children, err := constructor.Children()
	if err != nil {
		return false
	}
	n := 0
	for _, p := range children {
		if p.Tag != dwarf.TagFormalParameter || p.Flag(dwarf.AttrArtificial) {
			continue
		}
		t := x.r.typeOf(p).bare()
		if n++; n > 1 || t.Kind != Reference && t.Kind != RvalueReference || t.Elem().Strip() != class {
			return false
		}
	}
	return n == 1
}
