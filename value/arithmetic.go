package value

import (
	"math/big"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/floats"
)

// promoted returns the type in which C computes with two integers, as GDB has it.
func (e *evaluation) promoted(a, b *Value) *Type {
	const word = 4
	rank := func(v *Value) (size uint64, unsigned bool) {
		t := v.Type.Strip()
		size, _ = t.SizeOf()
		if size < word {
			return word, false
		}
		return size, t.Kind != Bool && !t.isSigned()
	}
	size, unsigned := rank(a)
	if n, u := rank(b); n > size || n == size && u {
		size, unsigned = n, u
	}
	name := "int"
	switch {
	case size > 8:
		name = "__int128"
	case size > uint64(e.r.Arch.PtrSize):
		name = "long long"
	case size > word:
		name = "long"
	}
	if unsigned {
		name = "unsigned " + name
	}
	return e.r.basic(name)
}

// integers evaluates an operator between two integers.
func (e *evaluation) integers(n *syntax.Node, a, b *Value) (Value, error) {
	t := e.promoted(a, b)
	if a.Type.Strip().Kind == Bool && b.Type.Strip().Kind == Bool {
		if t = a.Type; n.Text == "<<" || n.Text == ">>" || n.Text == "+" || n.Text == "-" || n.Text == "*" || n.Text == "/" || n.Text == "%" {
			return *a, e.fail(n.At, "Invalid operation on booleans.")
		}
	}
	size, _ := t.SizeOf()
	if size > 8 {
		return *a, e.fail(n.At, "That operation is not available on integers of more than 8 bytes.")
	}
	p, err := a.Int()
	if err != nil {
		return *a, e.because(n.Args[0].At, err)
	}
	q, err := b.Int()
	if err != nil {
		return *b, e.because(n.Args[1].At, err)
	}
	width := 8 * size
	drop := 64 - width
	x, y := uint64(p)<<drop>>drop, uint64(q)<<drop>>drop
	signed := t.isSigned()
	if signed {
		x, y = uint64(int64(x<<drop)>>drop), uint64(int64(y<<drop)>>drop)
	}
	yes, ok := syntax.Compare(n.Text, x, y)
	if signed {
		yes, ok = syntax.Compare(n.Text, int64(x), int64(y))
	}
	if ok {
		return e.boolean(yes), nil
	}
	r, ok := syntax.Compute(n.Text, x, y, width, signed)
	switch {
	case !ok && y == 0 && (n.Text == "/" || n.Text == "%"):
		return *a, e.fail(n.At, "Division by zero")
	case !ok:
		return *a, e.fail(n.At, "an operator that is not evaluated here")
	}
	return t.constant(int64(r)), nil
}

// floats evaluates an operator between numbers of which at least one is a floating-point number.
func (e *evaluation) floats(n *syntax.Node, a, b *Value) (Value, error) {
	x, err := e.number(a, n.Args[0].At)
	if err != nil {
		return *a, err
	}
	y, err := e.number(b, n.Args[1].At)
	if err != nil {
		return *b, err
	}
	p, q := x.Big(), y.Big()
	yes, ok := syntax.Compare(n.Text, x.Near(), y.Near())
	if ok && p != nil && q != nil {
		yes, ok = syntax.Compare(n.Text, p.Cmp(q), 0)
	}
	if ok {
		return e.boolean(yes), nil
	}
	// The wider of the two, or the one that is a floating-point number, gives the type.
	t := a.Type
	if a.isInteger() || !b.isInteger() && b.Type.Strip().Size > t.Strip().Size {
		t = b.Type
	}
	var r floats.Number
	wide := t.Strip().Size > 8 && p != nil && q != nil
	if f, ok := t.Strip().formatOf(t.Strip().Size); wide && ok {
		r.Wide = new(big.Float).SetPrec(f.Precision())
	}
	switch n.Text {
	case "+":
		if r.F = x.Near() + y.Near(); wide {
			r.Wide.Add(p, q)
		}
	case "-":
		if r.F = x.Near() - y.Near(); wide {
			r.Wide.Sub(p, q)
		}
	case "*":
		if r.F = x.Near() * y.Near(); wide {
			r.Wide.Mul(p, q)
		}
	case "/":
		r.F = x.Near() / y.Near()
		if wide && q.Sign() != 0 {
			r.Wide.Quo(p, q)
		} else {
			r.Wide = nil
		}
	default:
		return *a, e.fail(n.At, "Integer-only operation on floating point number.")
	}
	return e.fromFloat(t, r), nil
}

// number returns an integer or a floating-point number.
func (e *evaluation) number(v *Value, at int) (x floats.Number, err error) {
	if x, ok, err := v.floating(); err != nil {
		return x, e.because(at, err)
	} else if ok {
		return x, nil
	}
	if !v.isInteger() {
		return x, e.fail(at, notNumber)
	}
	b, err := v.Bytes()
	if err != nil {
		return x, e.because(at, err)
	}
	i := bigNumber(b, v.Type.ByteOrder() == bigEndian, v.Type.Strip().isSigned())
	x.Wide = new(big.Float).SetPrec(128).SetInt(i)
	x.F, _ = x.Wide.Float64()
	return x, nil
}
