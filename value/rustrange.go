package value

import (
	"math"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// rustLiteral returns the value of a number or a character, of a type of Rust.
func (e *evaluation) rustLiteral(n *syntax.Node) (Value, bool) {
	name := n.Suffix
	switch n.Kind {
	case syntax.Integer:
		switch {
		case name != "":
		case n.Int <= math.MaxInt32:
			name = "i32"
		default:
			name = "i64"
		}
	case syntax.Char:
		name = "char"
	default:
		return Value{}, false
	}
	t := e.r.rustBasic(name)
	if t == nil || t.Kind == Float || t.Kind == Bool || n.Kind == syntax.Integer && n.Int > math.MaxInt64 {
		return Value{}, false
	}
	return t.constant(int64(n.Int)), true
}

// rustRange evaluates a range of Rust. As for GDB, both bounds are of one type, and the range is of
// a struct that the debug information need not have.
func (e *evaluation) rustRange(n *syntax.Node) (Value, error) {
	name := "Range"
	if n.Text == "..=" {
		name = "RangeInclusive"
	}
	switch low, high := n.Args[0] != nil, n.Args[1] != nil; {
	case !low && !high:
		name = "RangeFull"
	case !high:
		name = "RangeFrom"
	case !low && n.Text == "..=":
		name = "RangeToInclusive"
	case !low:
		name = "RangeTo"
	}
	t := &Type{Kind: Struct, Name: name, fullName: "std::ops::" + name, language: "rust", Order: e.r.order(), r: e.r, parts: &parts{}}
	out := Value{Type: t, read: true, frame: e.c, mem: e.c.mem}
	for i, bound := range n.Args {
		if bound == nil {
			continue
		}
		v, err := e.value(bound)
		if err != nil {
			return v, err
		}
		if p := t.parts.fields; len(p) > 0 && p[0].Type.String() != v.Type.String() {
			return v, e.fail(n.At, "Range expression with different types")
		}
		b, err := v.Bytes()
		if err != nil {
			return v, e.because(bound.At, err)
		}
		t.parts.fields = append(t.parts.fields, Field{Name: [...]string{"start", "end"}[i], Type: v.Type, Offset: int64(len(out.bytes))})
		out.bytes = append(out.bytes, b...)
	}
	t.Size = uint64(len(out.bytes))
	return out, nil
}
