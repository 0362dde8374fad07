package value

import (
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// isInteger reports whether C computes with a value as with an integer.
func (v *Value) isInteger() bool {
	switch v.Type.Strip().Kind {
	case Integer, Char, Bool, Enum, Subrange:
		return true
	}
	return false
}

func (v *Value) isNumber() bool { return v.isInteger() || v.Type.Strip().Kind == Float }

const notNumber = "Argument to arithmetic operation not a number or boolean."

// boolean returns the result of a comparison: an int in C, a bool in languages that have it.
func (e *evaluation) boolean(yes bool) Value {
	t := e.r.basic("int")
	switch e.f.Language {
	case "c++", "rust", "go", "d":
		t = e.r.basic("bool")
	case "fortran":
		t = &Type{Name: "logical*4", Kind: Bool, Size: 4, Encoding: dwarfdata.ATEBoolean, Order: e.r.order(), r: e.r, elemRead: true, language: "fortran"}
	}
	if yes {
		return t.constant(1)
	}
	return t.constant(0)
}

// truth reports whether a node is not 0.
func (e *evaluation) truth(n *syntax.Node) (bool, error) {
	v, err := e.coerced(n)
	if err != nil {
		return false, err
	}
	return e.isTrue(&v, n.At)
}

func (e *evaluation) isTrue(v *Value, at int) (bool, error) {
	if x, ok, err := v.floating(); err != nil {
		return false, e.because(at, err)
	} else if ok {
		return x.Wide != nil && x.Wide.Sign() != 0 || x.Wide == nil && x.F != 0, nil
	}
	if !v.isInteger() && v.Type.Strip().Kind != Pointer && v.Type.Strip().Kind != MemberPointer {
		return false, e.fail(at, notNumber)
	}
	b, err := v.Bytes()
	if err != nil {
		return false, e.because(at, err)
	}
	return !isZero(b), nil
}

// unary evaluates -, ! and ~.
func (e *evaluation) unary(n *syntax.Node) (Value, error) {
	v, err := e.coerced(n.Args[0])
	if err != nil {
		return v, err
	}
	if n.Kind == syntax.Not {
		yes, err := e.isTrue(&v, n.At)
		return e.boolean(!yes), err
	}
	if x, ok, err := v.floating(); err != nil {
		return v, e.because(n.At, err)
	} else if ok {
		if n.Kind == syntax.Complement {
			return v, e.fail(n.At, "Argument to complement operation not an integer, boolean.")
		}
		if n.Kind == syntax.Positive {
			return v, nil
		}
		if x.Wide != nil {
			x.Wide.Neg(x.Wide)
		}
		x.F = -x.F
		return e.fromFloat(v.Type, x), nil
	}
	if !v.isInteger() {
		what := map[syntax.Kind]string{syntax.Negative: "Argument to negate operation not a number.", syntax.Positive: "Argument to positive operation not a number."}[n.Kind]
		if what == "" {
			what = "Argument to complement operation not an integer, boolean."
		}
		return v, e.fail(n.At, "%s", what)
	}
	i, err := v.Int()
	if err != nil {
		return v, e.because(n.At, err)
	}
	t := v.Type
	size, _ := t.SizeOf()
	if size < 4 {
		t = e.r.basic("int")
	}
	if size > 8 {
		return v, e.fail(n.At, "That operation is not available on integers of more than 8 bytes.")
	}
	switch n.Kind {
	case syntax.Negative:
		i = -i
	case syntax.Complement:
		i ^= -1
	}
	return t.constant(i), nil
}

// binary evaluates an operator between two operands.
func (e *evaluation) binary(n *syntax.Node) (Value, error) {
	switch n.Text {
	case "&&", "||":
		yes, err := e.truth(n.Args[0])
		if err == nil && yes == (n.Text == "&&") {
			yes, err = e.truth(n.Args[1])
		}
		return e.boolean(yes), err
	case "@":
		return e.repeated(n)
	case ",":
		if v, err := e.value(n.Args[0]); err != nil {
			return v, err
		}
		return e.value(n.Args[1])
	case ".*", "->*":
		return e.throughMember(n)
	}
	a, err := e.value(n.Args[0])
	if err != nil {
		return a, err
	}
	b, err := e.value(n.Args[1])
	if err != nil {
		return b, err
	}
	a, b = referred(a), referred(b)
	if n.Text == "==" || n.Text == "!=" {
		yes, ok := sameText(&a, &b)
		if n.Args[1].Kind == syntax.Name && n.Args[1].Text == "nil" && e.f.Language == "go" && (a.Type.Strip().Kind == Struct || a.Type.Strip().Kind == Function) {
			word, err := a.Word(0) // of a slice, an interface or a function
			if err != nil {
				return a, e.because(n.Args[0].At, err)
			}
			yes, ok = word == 0, true
		}
		if ok {
			return e.boolean(yes == (n.Text == "==")), nil
		}
	}
	if a, err = e.decayed(a, n.Args[0].At); err != nil {
		return a, err
	}
	if b, err = e.decayed(b, n.Args[1].At); err != nil {
		return b, err
	}
	for _, v := range []*Value{&a, &b} { // nullptr
		if v.Type.Strip().Kind == Unspecified {
			*v = e.pointer(e.r.pointerTo(e.r.void()), 0)
		}
	}
	for i, v := range []*Value{&a, &b} {
		if err := v.Err(); err != nil {
			return *v, e.because(n.Args[i].At, err)
		}
	}
	if a.Type.Strip().Kind == Struct || b.Type.Strip().Kind == Struct {
		if e.f.Language == "c++" {
			return a, e.fail(n.At, "No symbol \"operator%s\" in current context.", n.Text)
		}
		return a, e.fail(n.At, "Structure has no component named operator%s.", n.Text)
	}
	ptr, too := a.Type.Strip().Kind == Pointer, b.Type.Strip().Kind == Pointer
	if ptr || too {
		return e.pointers(n, &a, &b, ptr, too)
	}
	if !a.isNumber() || !b.isNumber() {
		if a.Type.Strip().Kind == MemberPointer && b.Type.Strip().Kind == MemberPointer && (n.Text == "==" || n.Text == "!=") {
			return e.boolean(equal(&a, &b) == (n.Text == "==")), nil
		}
		if n.Text == "==" || n.Text == "!=" {
			return a, e.fail(n.At, "Invalid type combination in equality test.")
		}
		return a, e.fail(n.At, notNumber)
	}
	if a.isInteger() && b.isInteger() {
		return e.integers(n, &a, &b)
	}
	return e.floats(n, &a, &b)
}

// maxRepetitions bounds the elements of an array that an expression makes.
const maxRepetitions = 1 << 20

// repeated evaluates GDB's operand@count: an array of that many elements, the first of which is the
// operand.
func (e *evaluation) repeated(n *syntax.Node) (Value, error) {
	v, err := e.value(n.Args[0])
	if err != nil {
		return v, err
	}
	count, err := e.coerced(n.Args[1])
	if err != nil {
		return count, err
	}
	if !count.isInteger() {
		return count, e.fail(n.Args[1].At, "no number of repetitions")
	}
	i, err := count.Int()
	if err != nil {
		return count, e.because(n.Args[1].At, err)
	}
	if v = referred(v); v.Place != InMemory {
		return v, e.fail(n.At, "Only values in memory can be extended with '@'.")
	}
	if i < 1 || i > maxRepetitions {
		return v, e.fail(n.At, "Invalid number %d of repetitions.", i)
	}
	return e.at(e.r.arrayOf(v.Type, uint64(i)), v.Addr), nil
}

// advanced returns a pointer that is moved by a number of elements.
func (e *evaluation) advanced(at int, p *Value, by int64) (Value, error) {
	addr, err := p.Uint()
	if err != nil {
		return *p, e.because(at, err)
	}
	step, ok := p.Type.Strip().Elem().SizeOf()
	if !ok {
		return *p, e.fail(at, "Cannot perform pointer math on incomplete types, try casting to a known type, or void *.")
	}
	return e.pointer(p.Type, addr+step*uint64(by)), nil
}

// pointers evaluates an operator of which an operand is a pointer.
func (e *evaluation) pointers(n *syntax.Node, a, b *Value, ptr, too bool) (Value, error) {
	x, err := a.Int()
	if err != nil {
		return *a, e.because(n.Args[0].At, err)
	}
	y, err := b.Int()
	if err != nil {
		return *b, e.because(n.Args[1].At, err)
	}
	if (ptr || a.isInteger()) && (too || b.isInteger()) {
		if yes, ok := syntax.Compare(n.Text, e.r.Arch.Wrap(uint64(x)), e.r.Arch.Wrap(uint64(y))); ok {
			return e.boolean(yes), nil
		}
	}
	switch {
	case n.Text == "+" && ptr && b.isInteger():
		return e.advanced(n.At, a, y)
	case n.Text == "+" && too && a.isInteger():
		return e.advanced(n.At, b, x)
	case n.Text == "-" && ptr && b.isInteger():
		return e.advanced(n.At, a, -y)
	case n.Text == "-" && ptr && too:
		size, ok := a.Type.Strip().Elem().SizeOf()
		other, also := b.Type.Strip().Elem().SizeOf()
		if !ok || !also || size != other {
			return *a, e.fail(n.At, "First argument of `-' is a pointer and second argument is neither an integer nor a pointer of the same type.")
		}
		if size == 0 {
			return *a, e.fail(n.At, "Division by zero")
		}
		return e.r.basic("long").constant((x - y) / int64(size)), nil
	}
	return *a, e.fail(n.At, notNumber)
}
