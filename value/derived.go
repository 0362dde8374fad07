package value

import (
	"debug/dwarf"
	"math"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// basic returns one of C's own types, by GDB's name of it; nil if there is no such type.
func (r *Reader) basic(name string) *Type {
	if t := r.basics[name]; t != nil {
		return t
	}
	word := uint64(r.Arch.PtrSize)
	t := &Type{Name: name, Order: r.order(), r: r, elemRead: true, Kind: Integer}
	const signed, unsigned = dwarfdata.ATESigned, dwarfdata.ATEUnsigned
	const signedChar, unsignedChar = dwarfdata.ATESignedChar, dwarfdata.ATEUnsignedChar
	of := func(size uint64, encoding uint64) {
		t.Size, t.Encoding, t.Signed = size, encoding, encoding == signed || encoding == signedChar
	}
	switch name {
	case "void":
		return r.void()
	case "char":
		of(1, unsignedChar)
		if r.Arch.CharSigned {
			of(1, signedChar)
		}
	case "signed char":
		of(1, signedChar)
	case "unsigned char":
		of(1, unsignedChar)
	case "short":
		of(2, signed)
	case "unsigned short":
		of(2, unsigned)
	case "int":
		of(4, signed)
	case "unsigned int":
		of(4, unsigned)
	case "long":
		of(word, signed)
	case "unsigned long":
		of(word, unsigned)
	case "long long":
		of(8, signed)
	case "unsigned long long":
		of(8, unsigned)
	case "__int128":
		of(16, signed)
	case "unsigned __int128":
		of(16, unsigned)
	case "bool", "_Bool":
		of(1, dwarfdata.ATEBoolean)
		t.Kind = Bool
	case "float":
		of(4, dwarfdata.ATEFloat)
		t.Kind = Float
	case "double":
		of(8, dwarfdata.ATEFloat)
		t.Kind = Float
	case "long double":
		of(16, dwarfdata.ATEFloat)
		if t.Kind = Float; word == 4 {
			if t.Size = 8; r.Arch.LongDouble == abi.X87 {
				t.Size = 12
			}
		}
	default:
		return nil
	}
	if r.basics == nil {
		r.basics = make(map[string]*Type)
	}
	r.basics[name] = t
	return t
}

// basicOf returns one of C's own types by the words that name it in any order; nil if there is
// none.
func (r *Reader) basicOf(words []string) *Type {
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	unsigned, signed, long := count["unsigned"], count["signed"], count["long"]
	name, used := "", 1
	switch {
	case count["char"] == 1:
		name = "char"
		if signed > 0 {
			name = "signed char"
		}
	case count["short"] == 1:
		name, used = "short", 1+count["int"]
	case long > 0 && count["double"] == 1:
		name, used = "long double", 2
	case long == 1:
		name, used = "long", 1+count["int"]
	case long == 2:
		name, used = "long long", 2+count["int"]
	case count["__int128"] == 1:
		name = "__int128"
	case count["int"] == 1, unsigned+signed == 1 && len(words) == 1:
		name, used = "int", count["int"]
	default:
		if len(words) == 1 {
			return r.basic(words[0])
		}
		return nil
	}
	if used+unsigned+signed != len(words) || unsigned+signed > 1 {
		return nil
	}
	if unsigned > 0 {
		name = "unsigned " + name
	}
	return r.basic(name)
}

// constantInteger returns a number with the type that GDB gives it (C11, 6.4.4.1).
func (r *Reader) constantInteger(n *syntax.Node) Value {
	unsigned, long := strings.Contains(n.Suffix, "u"), strings.Count(n.Suffix, "l")
	for i, name := range []string{"int", "long", "long long"} {
		if i < long {
			continue
		}
		t := r.basic(name)
		most := uint64(math.MaxUint64) >> (64 - 8*t.Size)
		if !unsigned && n.Int <= most>>1 {
			return t.constant(int64(n.Int))
		}
		if (unsigned || n.Base != 10) && n.Int <= most {
			return r.basic("unsigned " + name).constant(int64(n.Int))
		}
	}
	return r.basic("unsigned long long").constant(int64(n.Int))
}

func (r *Reader) pointerTo(t *Type) *Type {
	return &Type{Kind: Pointer, Size: uint64(r.Arch.PtrSize), Order: r.order(), r: r, elem: t, elemRead: true}
}

func (r *Reader) referenceTo(t *Type, kind Kind) *Type {
	return &Type{Kind: kind, Size: uint64(r.Arch.PtrSize), Order: r.order(), r: r, elem: t, elemRead: true}
}

func (r *Reader) arrayOf(t *Type, n uint64) *Type {
	return &Type{Kind: Array, Order: r.order(), r: r, elem: t, elemRead: true, bounds: &Bounds{Count: n, Known: true}}
}

func (r *Reader) qualified(t *Type, kind Kind) *Type {
	return &Type{Kind: kind, r: r, elem: t, elemRead: true}
}

// functionOf returns the type of a function. Without parameters, it has no prototype.
func (r *Reader) functionOf(result *Type, parameters []*Type) *Type {
	return &Type{Kind: Function, r: r, elem: result, elemRead: true, parts: &parts{parameters: parameters, unprototyped: len(parameters) == 0}}
}

// codePointer returns the type of the register PC, as a language has it.
func (r *Reader) codePointer(language string) *Type {
	f := r.functionOf(r.void(), nil)
	f.parts.unprototyped = language != "c++"
	return r.pointerTo(f)
}

// withParameters returns the type of a function that another entry declares: that has the result.
func (t *Type) withParameters(of *Type) *Type {
	p := *of.read()
	out := *t
	out.parts = &p
	return &out
}

// withoutInformation returns the type of a function or variable that no debug information
// describes, as GDB names it.
func (r *Reader) withoutInformation(code bool) *Type {
	if code {
		return &Type{Kind: Function, Name: "<text variable, no debug info>", r: r, elem: r.basic("int"), elemRead: true, parts: &parts{}}
	}
	return &Type{Kind: Unknown, Name: "<data variable, no debug info>", r: r, elemRead: true}
}

// derive returns the type that a written one is, made of the type of its name.
func (e *evaluation) derive(t *Type, as *syntax.Type) (*Type, error) {
	qualify := func(t *Type, constant, volatile bool) *Type {
		if volatile {
			t = e.r.qualified(t, Volatile)
		}
		if constant {
			t = e.r.qualified(t, Const)
		}
		return t
	}
	t = qualify(t, as.Const, as.Volatile)
	for _, d := range as.Derived {
		switch d.Kind {
		case '*':
			if e.f.Language == "go" {
				if p := e.typeCalled("*"+t.Name, func(tag dwarf.Tag) bool { return tag == dwarf.TagPointerType }); t.Name != "" && p != nil {
					t = p
					continue
				}
			}
			t = qualify(e.r.pointerTo(t), d.Const, d.Volatile)
		case '&':
			t = e.r.referenceTo(t, Reference)
		case 'R':
			t = e.r.referenceTo(t, RvalueReference)
		case '[':
			t = e.r.arrayOf(t, d.Count)
		case '(':
			var list []*Type
			for _, p := range d.Parameters {
				x, err := e.typeNamed(p)
				if err != nil {
					return nil, err
				}
				list = append(list, x)
			}
			if len(list) == 1 && list[0].Kind == Void {
				list = nil
				t = e.r.functionOf(t, list)
				t.parts.unprototyped = false
				continue
			}
			t = e.r.functionOf(t, list)
		}
	}
	return t, nil
}

// unprototyped reports whether a function type of C has no list of parameters: int f().
func (t *Type) unprototyped(list []*Type) bool {
	if t.entry == nil || len(list) > 0 {
		return t.parts != nil && t.parts.unprototyped
	}
	return !t.entry.Flag(dwarf.AttrPrototyped) && slices.Contains([]string{"c", "asm", "objective-c"}, t.Language())
}
