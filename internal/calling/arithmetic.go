package calling

import (
	"context"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/expression"
)

// binary evaluates an operator between two numbers, with the conversions of C (C11, 6.3.1.8). Both sides are evaluated,
// but for && and ||.
func (e *Evaluator) binary(ctx context.Context, n *expression.Node) (v Value, err error) {
	order := e.Process.Arch().Order
	a, err := e.value(ctx, n.Args[0], nil)
	if err != nil {
		return a, err
	}
	if n.Text == "&&" || n.Text == "||" {
		yes, ok := e.truth(&a)
		if ok && yes == (n.Text == "&&") {
			if a, err = e.value(ctx, n.Args[1], nil); err != nil {
				return a, err
			}
			yes, ok = e.truth(&a)
		}
		if !ok {
			return a, e.fail(n.At, "an operator that this value does not take")
		}
		return integerValue(intType, "int", btoi(yes), order), nil
	}
	b, err := e.value(ctx, n.Args[1], nil)
	if err != nil {
		return b, err
	}
	x, isInt := a.integer(order)
	y, alsoInt := b.integer(order)
	if isInt && alsoInt && a.Type.Kind == abi.Integer && b.Type.Kind == abi.Integer {
		return e.integers(n, &a, &b, x, y)
	}
	f, ok := e.number(&a)
	g, too := e.number(&b)
	if ok && too {
		return e.floats(n, &a, &b, f, g)
	}
	return a, e.fail(n.At, "an operator that these values do not take")
}

// truth reports whether a number is not 0.
func (e *Evaluator) truth(v *Value) (yes, ok bool) {
	order := e.Process.Arch().Order
	if n, ok := v.integer(order); ok {
		return n != 0, true
	}
	f, ok := v.float(order)
	return f != 0, ok
}

// number returns an integer or a floating-point number.
func (e *Evaluator) number(v *Value) (f float64, ok bool) {
	order := e.Process.Arch().Order
	if n, ok := v.integer(order); ok && v.Type.Kind == abi.Integer {
		if v.Type.Signed {
			return float64(int64(n)), true
		}
		return float64(n), true
	}
	return v.float(order)
}

// floats evaluates an operator between numbers of which at least one is a floating-point number.
func (e *Evaluator) floats(n *expression.Node, a, b *Value, f, g float64) (v Value, err error) {
	if yes, ok := expression.Compare(n.Text, f, g); ok {
		return integerValue(intType, "int", btoi(yes), e.Process.Arch().Order), nil
	}
	of := a
	if a.Type.Kind == abi.Integer || b.Type.Kind != abi.Integer && b.Type.Size > a.Type.Size {
		of = b
	}
	switch n.Text {
	case "+":
		f += g
	case "-":
		f -= g
	case "*":
		f *= g
	case "/":
		f /= g
	default:
		return *a, e.fail(n.At, "an operator for integers alone")
	}
	return floatValue(of.Type, of.TypeName, f, e.order()), nil
}

// integers evaluates an operator between two integers.
func (e *Evaluator) integers(n *expression.Node, a, b *Value, x, y uint64) (v Value, err error) {
	order := e.Process.Arch().Order
	t, name := intType, "int"
	for _, of := range []*Value{a, b} { // the wider one; of two that are equally wide, the one without a sign
		if of.Type.Size > t.Size || of.Type.Size == t.Size && !of.Type.Signed {
			t, name = of.Type, of.TypeName
		}
	}
	drop := 64 - 8*t.Size
	narrow := func(x uint64) uint64 {
		if t.Signed {
			return uint64(int64(x<<drop) >> drop)
		}
		return x << drop >> drop
	}
	x, y = narrow(x), narrow(y)
	yes, ok := expression.Compare(n.Text, x, y)
	if t.Signed {
		yes, ok = expression.Compare(n.Text, int64(x), int64(y))
	}
	if ok {
		return integerValue(intType, "int", btoi(yes), order), nil
	}
	r, ok := expression.Compute(n.Text, x, y, uint64(8*t.Size), t.Signed)
	switch {
	case !ok && y == 0 && (n.Text == "/" || n.Text == "%"):
		return *a, e.fail(n.At, "division by zero")
	case !ok:
		return *a, e.fail(n.At, "an operator that is not evaluated here")
	}
	return integerValue(t, name, narrow(r), order), nil
}
