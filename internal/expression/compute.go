package expression

import "math"

// Compare evaluates a comparison; ok is false for other operators.
func Compare[T int | int64 | uint64 | float64](op string, a, b T) (yes, ok bool) {
	switch op {
	case "==":
		return a == b, true
	case "!=":
		return a != b, true
	case "<":
		return a < b, true
	case ">":
		return a > b, true
	case "<=":
		return a <= b, true
	case ">=":
		return a >= b, true
	}
	return false, false
}

// Compute evaluates an operator that makes an integer of two, of a type of width bits, 8 to 64,
// with a sign or without. x and y are extended to 64 bits as the type says; the lowest width bits
// of r count. ok is false for other operators, and for a division by zero.
func Compute(op string, x, y, width uint64, signed bool) (r uint64, ok bool) {
	switch op {
	case "+":
		return x + y, true
	case "-":
		return x - y, true
	case "*":
		return x * y, true
	case "/", "%":
		switch {
		case y == 0:
			return 0, false
		case op == "/" && signed:
			return uint64(int64(x) / int64(y)), true
		case op == "/":
			return x / y, true
		case signed:
			return uint64(int64(x) % int64(y)), true
		}
		return x % y, true
	case "&":
		return x & y, true
	case "|":
		return x | y, true
	case "^":
		return x ^ y, true
	case "<<":
		if y < width {
			r = x << y
		}
		return r, true
	case ">>":
		switch {
		case y >= width && signed && int64(x) < 0 && int64(y) >= 0:
			return math.MaxUint64, true
		case y >= width:
			return 0, true
		case signed:
			return uint64(int64(x) >> y), true
		}
		return x >> y, true
	}
	return 0, false
}
