package calling

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/value"
)

// maxTypeDepth bounds types within each other.
const maxTypeDepth = 32

// abiOf returns a type as calling conventions want it.
func (e *Evaluator) abiOf(t *value.Type, depth int) (*abi.Type, error) {
	if depth > maxTypeDepth {
		return nil, errors.New("a type that is nested too deep")
	}
	t = t.Strip()
	word, longDouble := uint64(e.Process.Arch().PtrSize), e.Process.Arch().LongDouble
	switch t.Kind {
	case value.Void:
		return voidType, nil
	case value.Bool, value.Char, value.Integer, value.Enum:
		return &abi.Type{Kind: abi.Integer, Size: t.Size, Signed: t.Signed}, nil
	case value.Pointer, value.Reference, value.RvalueReference, value.Unspecified, value.Function:
		return e.model().pointer, nil
	case value.Float:
		return &abi.Type{Kind: floatKind(longDouble, t.Name, t.Size), Size: t.Size}, nil
	case value.Complex:
		part := &abi.Type{Kind: floatKind(longDouble, t.Name, t.Size/2), Size: t.Size / 2}
		return &abi.Type{Kind: abi.Complex, Size: t.Size, Elem: part}, nil
	case value.MemberPointer:
		one := &abi.Type{Kind: abi.Integer, Size: word, Signed: true}
		if t.Elem().Strip().Kind != value.Function {
			return one, nil
		}
		both := []abi.Member{{Type: one}, {Type: one, Offset: word}}
		return &abi.Type{Kind: abi.Struct, Size: 2 * word, Members: both}, nil
	case value.Array:
		elem, err := e.abiOf(t.Elem(), depth+1)
		b := t.Bounds()
		if err != nil || !b.Known {
			return nil, errors.Join(err, errors.New("an array of unknown size"))
		}
		of := &abi.Type{Kind: abi.Array, Elem: elem, Count: b.Count, Size: b.Count * elem.Size}
		if t.Vector {
			of.Kind = abi.Vector
		}
		return of, nil
	case value.Struct, value.Union:
		return e.abiStruct(t, depth)
	}
	return nil, fmt.Errorf("a value of type %s is not passed to functions", t)
}

func (e *Evaluator) abiStruct(t *value.Type, depth int) (*abi.Type, error) {
	of := &abi.Type{Kind: abi.Struct, Size: t.Size}
	if t.Kind == value.Union {
		of.Kind = abi.Union
	}
	for _, f := range t.Fields() {
		if f.Static {
			continue
		}
		if f.Virtual {
			return nil, fmt.Errorf("%s has virtual bases: pass a pointer to it", t)
		}
		part, err := e.abiOf(f.Type, depth+1)
		if err != nil {
			return nil, err
		}
		m := abi.Member{Type: part, Offset: uint64(f.Offset)}
		if f.Bits != 0 {
			m.Offset, m.BitSize, m.BitOffset = 0, f.Bits, uint64(8*f.Offset)+f.BitOffset
		}
		of.Members = append(of.Members, m)
	}
	return of, nil
}

// floatKind returns the kind of a floating-point number by the name of its type and its size in bytes. longDouble is
// the kind of C's long double.
func floatKind(longDouble abi.Kind, name string, size uint64) abi.Kind {
	if size > 8 && !strings.Contains(name, "128") {
		return longDouble
	}
	return abi.Float
}

// funcOf returns the type of a function that debug information describes, but where it is called alone.
func (e *Evaluator) funcOf(t *value.Type) (of *abi.Func, err error) {
	list, more := t.Parameters()
	of = &abi.Func{Variadic: more, Unprototyped: len(list) == 0 && t.Language() == "c"}
	if of.Result, err = e.abiOf(t.Elem(), 0); err != nil {
		return nil, err
	}
	for _, p := range list {
		param, err := e.abiOf(p, 0)
		if err != nil {
			return nil, err
		}
		of.Params = append(of.Params, param)
	}
	return of, nil
}
