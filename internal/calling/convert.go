package calling

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/value"
)

// typeOf returns the type that an expression names.
func (e *Evaluator) typeOf(t *expression.Type) (*abi.Type, error) {
	m := e.model()
	if len(t.Derived) > t.Pointers {
		return nil, e.fail(t.At, "a type that a call does not take: use one of C's own types, or a pointer")
	}
	if t.Pointers > 0 {
		return m.pointer, nil
	}
	if of := m.named[t.Name]; of != nil {
		return of, nil
	}
	count := map[string]int{}
	for _, word := range strings.Fields(t.Name) {
		count[word]++
	}
	signed := count["unsigned"] == 0
	kind := &abi.Type{Kind: abi.Integer, Size: 4, Signed: signed}
	used := count["unsigned"] + count["signed"]
	switch {
	case count["char"] == 1:
		kind.Size, used = 1, used+1
		if count["signed"] == 0 && signed {
			kind.Signed = e.Process.Arch().CharSigned
		}
	case count["short"] == 1:
		kind.Size, used = 2, used+1+count["int"]
	case count["long"] > 0 && count["double"] == 1:
		kind, used = m.longDouble, used+2
	case count["long"] == 1:
		kind.Size, used = m.long.Size, used+1+count["int"]
	case count["long"] > 1:
		kind.Size, used = 8, used+count["long"]+count["int"]
	case count["int"] == 1:
		used++
	}
	if used != len(strings.Fields(t.Name)) || used == 0 {
		return nil, e.fail(t.At, fmt.Sprintf("the type %s is not known: use one of C's own types, or a pointer", t.Name))
	}
	return kind, nil
}

// castType returns what is shown of a cast's type: a text of a pointer to characters, a character.
func (e *Evaluator) castType(t *expression.Type) dwarf.Type {
	char := &dwarf.CharType{}
	char.ByteSize, char.Name = 1, "char"
	switch {
	case t.Name == "char" && t.Pointers == 0:
		return char
	case t.Name == "unsigned char" && t.Pointers == 0:
		of := &dwarf.UcharType{}
		of.ByteSize, of.Name = 1, t.Name
		return of
	case t.Name == "char" && t.Pointers == 1:
		p := &dwarf.PtrType{Type: char}
		p.ByteSize = int64(e.model().pointer.Size)
		return p
	}
	return nil
}

// convert converts a value to a type, as C does in an assignment.
func (e *Evaluator) convert(v Value, t *abi.Type, at int) (Value, error) {
	order := e.Process.Arch().Order
	to := Value{Value: abi.Value{Type: t}, TypeName: v.TypeName, dwarf: v.dwarf}
	switch {
	case v.isText || v.elements != nil:
		if t.Kind != abi.Pointer && !(t.Kind == abi.Integer && t.Size == e.model().pointer.Size) {
			return v, e.fail(at, "a text or an array is passed where no pointer is taken")
		}
		addr, err := e.place(v)
		if err != nil {
			return v, err
		}
		to.Bytes = putInteger(addr, t.Size, order)
		return to, nil
	case t.Kind == abi.Integer || t.Kind == abi.Pointer:
		if n, ok := v.integer(order); ok {
			to.Bytes = putInteger(n, t.Size, order)
			if !v.Type.Signed && t.Size == 16 {
				to.Bytes = zeroExtended(n, order)
			}
			return to, nil
		}
		if f, ok := v.float(order); ok && t.Kind == abi.Integer && t.Size <= 8 {
			n := uint64(int64(f))
			if f >= 1<<63 {
				n = uint64(f)
			}
			to.Bytes = putInteger(n, t.Size, order)
			return to, nil
		}
	case (t.Kind == abi.Float && t.Size >= 4 || t.Kind == abi.X87) && (v.Type.Kind != t.Kind || v.Type.Size != t.Size):
		f, ok := v.float(order)
		if n, isInt := v.integer(order); isInt && v.Type.Kind == abi.Integer {
			f, ok = float64(n), true
			if v.Type.Signed {
				f = float64(int64(n))
			}
		}
		if ok {
			return floatValue(t, v.TypeName, f, e.order()), nil
		}
	}
	if v.Type.Kind == t.Kind && v.Type.Size == t.Size && len(v.Bytes) == int(t.Size) {
		to.Bytes = v.Bytes
		return to, nil
	}
	return v, e.fail(at, fmt.Sprintf("a value of kind %s (%d bytes) cannot be passed as %s (%d bytes)", v.Type.Kind, v.Type.Size, t.Kind, t.Size))
}

func zeroExtended(n uint64, order binary.ByteOrder) []byte {
	b := make([]byte, 16)
	if order == binary.ByteOrder(binary.BigEndian) {
		order.PutUint64(b[8:], n)
	} else {
		order.PutUint64(b, n)
	}
	return b
}

// place puts a text or an array into the process, and returns its address.
func (e *Evaluator) place(v Value) (uint64, error) {
	if v.isText {
		return e.Caller.Place(append([]byte(v.text), 0))
	}
	var b []byte
	for i := range v.elements {
		b = append(b, v.elements[i].Bytes...)
	}
	return e.Caller.Place(b)
}

// referTo returns the address that is passed for a reference to an object of type t: the address of v, or of a copy
// if v is in no memory or is a number of another type.
func (e *Evaluator) referTo(v *Value, t *abi.Type, at int) (Value, error) {
	order := e.Process.Arch().Order
	same := v.Type.Kind == t.Kind && v.Type.Size == t.Size
	switch {
	case v.array != nil: // as C++ has it, a reference to an array is its address
		return *v, nil
	case v.hasAddress && same:
		return integerValue(e.model().pointer, v.TypeName, v.at, order), nil
	case t.Kind == abi.Struct || t.Kind == abi.Union:
		if !same {
			return *v, e.fail(at, fmt.Sprintf("a value of kind %s (%d bytes) is no object of the class that the function's reference refers to", v.Type.Kind, v.Type.Size))
		}
	}
	made, err := e.convert(*v, t, at)
	if err != nil {
		return made, err
	}
	addr, err := e.Caller.Place(made.Bytes)
	return integerValue(e.model().pointer, v.TypeName, addr, order), err
}

// shownIn returns a frame in which values of debug information are shown; nil if there is none.
func (e *Evaluator) shownIn() *value.Frame {
	if e.Frames == nil {
		return nil
	}
	if list := e.Frames(); len(list) > 0 {
		return list[0]
	}
	return nil
}
