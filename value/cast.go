package value

import (
	"math"
	"math/big"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/floats"
)

// castNode evaluates (type) operand.
func (e *evaluation) castNode(n *syntax.Node, t *Type) (Value, error) {
	arg := n.Args[0]
	if arg.Kind == syntax.Name {
		// Of a variable without debug information, the cast says what it is.
		if addr, ok := e.bare(arg); ok {
			return e.at(t, addr), nil
		}
	}
	v, err := e.operand(arg, t)
	if err != nil {
		return v, err
	}
	return e.cast(v, t, n.At)
}

// operand evaluates what is cast to a type. Of a function without debug information, the cast says
// what it returns.
func (e *evaluation) operand(n *syntax.Node, t *Type) (Value, error) {
	if n.Kind == syntax.Call {
		return e.call(n, t)
	}
	return e.value(n)
}

// cast converts a value as GDB does.
func (e *evaluation) cast(v Value, t *Type, at int) (Value, error) {
	to := t.Strip()
	switch to.Kind {
	case Reference, RvalueReference:
		v = referred(v)
		if v.Place != InMemory {
			return v, e.fail(at, "Attempt to take address of value not located in memory.")
		}
		addr := v.Addr
		if up, ok := e.related(&v, to.Elem()); ok {
			addr = up.Addr
		}
		return e.pointer(t, addr), nil
	case Void:
		return Value{Type: t, read: true}, nil
	}
	v = referred(v)
	if to.Kind == Struct || to.Kind == Union || to.Kind == Array {
		return e.castObject(v, t, at)
	}
	v, err := e.decayed(v, at)
	if err != nil {
		return v, err
	}
	from := v.Type.Strip()
	if err := v.Err(); err != nil {
		if IsAbsent(err) {
			v.Type = t
			if len(v.gaps) > 0 && v.err == nil && v.Type.Strip().Kind != Pointer {
				v = Value{Type: t, err: err}
			}
			return v, nil
		}
		return v, e.because(at, err)
	}
	switch to.Kind {
	case Float:
		x, err := e.number(&v, at)
		if err != nil {
			return v, e.fail(at, "Invalid cast.")
		}
		if v.isInteger() && to.Size == 4 { // round once
			i, err := v.Int()
			if err == nil && (v.Type.Strip().isSigned() || i >= 0) {
				x = floats.Number{F: float64(float32(i))}
			}
		}
		return e.fromFloat(t, x), nil
	case Bool:
		yes, err := e.isTrue(&v, at)
		if err != nil {
			return v, err
		}
		return t.constant(map[bool]int64{true: 1}[yes]), nil
	case Integer, Char, Enum, Subrange, Pointer, MemberPointer, Unspecified:
		if from.Kind == MemberPointer && to.Kind == MemberPointer {
			v.Type = t
			return v, nil
		}
		return e.castInteger(v, t, at)
	}
	return v, e.fail(at, "Invalid cast.")
}

// castInteger converts a scalar to an integer or a pointer.
func (e *evaluation) castInteger(v Value, t *Type, at int) (Value, error) {
	from, to := v.Type.Strip(), t.Strip()
	keep := func(x Value) Value {
		x.mem, x.frame = e.c.mem, e.c
		return x
	}
	if x, ok, err := v.floating(); err != nil {
		return v, e.because(at, err)
	} else if ok {
		if to.Kind == Pointer {
			return v, e.fail(at, "Invalid cast.")
		}
		return keep(t.constant(int64(truncated(x)))), nil
	}
	if !v.isInteger() && from.Kind != Pointer && from.Kind != Unspecified {
		return v, e.fail(at, "Invalid cast.")
	}
	if from.Kind == Pointer && to.Kind == Pointer {
		addr, err := v.Uint()
		if err != nil {
			return v, e.because(at, err)
		}
		if elem := from.Elem().Strip(); addr != 0 && elem.Kind == Struct && to.Elem().Strip().Kind == Struct {
			o := v.Deref()
			if up, ok := e.related(&o, to.Elem()); ok {
				addr = up.Addr
			}
		}
		return e.pointer(t, addr), nil
	}
	size, _ := t.SizeOf()
	if n, _ := v.size(); size > 8 || n > 8 {
		b, err := v.Bytes()
		if err != nil {
			return v, e.because(at, err)
		}
		i := bigNumber(b, v.Type.ByteOrder() == bigEndian, from.isSigned())
		return keep(t.constantBig(i)), nil
	}
	i, err := v.Int()
	if err != nil {
		return v, e.because(at, err)
	}
	return keep(t.constant(i)), nil
}

// constantBig returns a number of any size as a value of the type.
func (t *Type) constantBig(i *big.Int) Value {
	size, ok := t.SizeOf()
	if !ok || size > 16 {
		return Value{Type: t, err: ErrUnavailable}
	}
	n := new(big.Int).And(i, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*size)), big.NewInt(1)))
	b := n.FillBytes(make([]byte, size))
	if t.ByteOrder() != bigEndian {
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return Value{Type: t, bytes: b, read: true}
}

// truncated returns the whole part of a floating-point number, of its lowest 64 bits.
func truncated(x floats.Number) uint64 {
	v := x.Big()
	if v == nil {
		return 1 << 63 // as amd64 has it
	}
	i, _ := v.Int(nil)
	switch {
	case i.IsInt64():
		return uint64(i.Int64())
	case i.IsUint64():
		return i.Uint64()
	case i.Sign() > 0:
		return math.MaxUint64
	}
	return 1 << 63
}

// castObject converts a value to a struct or an array: an object in memory is read as one of that
// type.
func (e *evaluation) castObject(v Value, t *Type, at int) (Value, error) {
	to, from := t.Strip(), v.Type.Strip()
	switch {
	case from.Kind == Struct && to.Kind == Struct:
		if up, ok := e.related(&v, t); ok {
			return up, nil
		}
		if from.FullName() == to.FullName() && from.Name != "" {
			v.Type = t
			return v, nil
		}
	case from.Kind == Union && to.Kind == Union && from.FullName() == to.FullName() && from.Name != "":
		v.Type = t
		return v, nil
	}
	if v.Place == InMemory {
		return e.at(t, v.Addr), nil
	}
	if n, ok := t.SizeOf(); ok {
		if b, err := v.Bytes(); err == nil && uint64(len(b)) == n && to.Kind == Array {
			return Value{Type: t, bytes: b, read: true, mem: v.mem, frame: v.frame}, nil
		}
	}
	return v, e.fail(at, "Invalid cast.")
}

// related returns the part of an object of a class that is of a base of the class, or the object of
// a derived class that it is a part of.
func (e *evaluation) related(v *Value, t *Type) (Value, bool) {
	from, to := v.Type.Strip(), t.Strip()
	if from.Kind != Struct || to.Kind != Struct || from.Declared || to.Declared || from.FullName() == to.FullName() {
		return Value{}, false
	}
	if path := basePath(from, to.FullName(), 0); path != nil {
		up := v.path(path)
		up.Type = t
		return up, up.err == nil && up.Place == InMemory
	}
	if path := basePath(to, from.FullName(), 0); path != nil && v.Place == InMemory {
		if whole, ok, err := e.mostDerived(v); ok && err == nil && whole.Type.Strip().FullName() == to.FullName() {
			whole.Type = t
			return whole, true
		}
		offset := int64(0)
		for _, f := range path {
			if f.Virtual {
				return Value{}, false
			}
			offset += f.Offset
		}
		return e.at(t, v.Addr-uint64(offset)), true
	}
	return Value{}, false
}
