package value

import (
	gocontext "context"
	"errors"
	"fmt"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/floats"
	"github.com/sfwalk/sfwalk/symbol"
)

// ErrNotInScope says that an expression has a name that means nothing in a frame. Elsewhere it may
// mean something.
var ErrNotInScope = errors.New("not in scope")

// ErrCalls says that an expression calls a function, and that nobody makes calls: a [Session] does.
var ErrCalls = errors.New("the expression calls a function")

// Evaluate evaluates an expression of C or C++ in the frame, as GDB's print does: it reads names,
// members, elements and registers, and computes. It neither assigns nor calls. The error points at
// a character of the expression. It wraps [ErrNotInScope] if the frame lacks a name, and
// [MemoryError] if memory that the expression needs cannot be read. A value that the compiler keeps
// nowhere is no error, unless the expression computes with it.
func (f *Frame) Evaluate(text string) (Value, error) {
	e, n, err := f.parse(text)
	if err != nil {
		return Value{}, err
	}
	return e.value(n)
}

// EvaluateAs is Evaluate for a value that is to be assigned to an object of type t: it is converted
// to that type.
func (f *Frame) EvaluateAs(text string, t *Type) (Value, error) {
	e, n, err := f.parse(text)
	if err != nil {
		return Value{}, err
	}
	v, err := e.value(n)
	if err != nil {
		return v, err
	}
	return e.cast(v, t, n.At)
}

// parse parses an expression.
func (f *Frame) parse(text string) (*evaluation, *syntax.Node, error) {
	if f.in == nil {
		return nil, nil, fmt.Errorf("%q: the frame has no registers: %w", text, ErrNotInScope)
	}
	e := &evaluation{r: f.in.r, f: f, c: f.in, text: text}
	in := syntax.Scope{IsType: e.isType, IsValue: e.isValue, IsVariable: e.isVariable, Language: f.Language}
	n, err := syntax.ParseWith(text, in)
	if err != nil {
		// A name that nothing has may have been meant for a type. Then it is what is wrong.
		in.IsType = e.mayBeType
		if again, other := syntax.ParseWith(text, in); other == nil {
			n, err = again, nil
		}
	}
	return e, n, err
}

// evaluation evaluates one expression in a frame.
type evaluation struct {
	r    *Reader
	f    *Frame
	c    *context
	text string
	// session has the values before, and makes calls; nil if there are no values, and calls are
	// errors.
	session *Session
	ctx     gocontext.Context // of calls

	imports     []lent // to the frame's function and unit
	importsRead bool
	whole       map[wholeKey][]string
}

func (e *evaluation) fail(at int, format string, args ...any) error {
	return &syntax.Error{Text: e.text, Column: at, What: fmt.Sprintf(format, args...)}
}

func (e *evaluation) missing(at int, format string, args ...any) error {
	return &syntax.Error{Text: e.text, Column: at, What: fmt.Sprintf(format, args...), Cause: ErrNotInScope}
}

// because makes an error of one that says why a value is not known.
func (e *evaluation) because(at int, err error) error {
	what := err.Error()
	if errors.Is(err, ErrOptimizedOut) {
		what = "value has been optimized out"
	}
	return &syntax.Error{Text: e.text, Column: at, What: what, Cause: err}
}

// value evaluates a node.
func (e *evaluation) value(n *syntax.Node) (Value, error) {
	if e.f.Language == "rust" {
		if v, ok := e.rustLiteral(n); ok {
			return v, nil
		}
	}
	switch n.Kind {
	case syntax.Integer:
		return e.r.constantInteger(n), nil
	case syntax.Float:
		name := map[string]string{"f": "float", "l": "long double"}[n.Suffix]
		if name == "" {
			name = "double"
		}
		return e.fromFloat(e.r.basic(name), floats.Number{F: n.Float}), nil
	case syntax.Char:
		return e.r.characterType(n.Suffix).constant(int64(n.Int)), nil
	case syntax.String:
		return e.stringConstant(n), nil
	case syntax.Name:
		return e.name(n)
	case syntax.Call:
		return e.call(n, nil)
	case syntax.Array:
		return e.array(n)
	case syntax.SizeOf:
		return e.sizeOf(n)
	case syntax.AlignOf:
		return e.alignOf(n)
	case syntax.TypeName:
		if _, err := e.typeNamed(n.Type); err != nil {
			return Value{}, err
		}
		return Value{}, e.fail(n.At, "Attempt to use a type name as an expression.")
	case syntax.Slice:
		return e.slice(n)
	case syntax.Range:
		return e.rustRange(n)
	case syntax.Assert:
		return e.assert(n)
	case syntax.Cast:
		t, err := e.typeNamed(n.Type)
		if err != nil {
			return Value{}, err
		}
		v, err := e.namedCast(n, t)
		v.bare = e.f.Language == "go"
		return v, err
	case syntax.At:
		t, err := e.typeNamed(n.Type)
		if err != nil {
			return Value{}, err
		}
		v, err := e.coerced(n.Args[0])
		if err != nil {
			return v, err
		}
		if !v.isInteger() && v.Type.Strip().Kind != Pointer {
			return v, e.fail(n.Args[0].At, "no address")
		}
		addr, err := v.Uint()
		if err != nil {
			return v, e.because(n.Args[0].At, err)
		}
		return e.at(t, addr), nil
	case syntax.Member:
		return e.member(n)
	case syntax.Index:
		return e.index(n)
	case syntax.Conditional:
		yes, err := e.truth(n.Args[0])
		if err != nil {
			return Value{}, err
		}
		if yes {
			return e.value(n.Args[1])
		}
		return e.value(n.Args[2])
	case syntax.Binary:
		if n.Text == "%" && e.f.Language == "fortran" {
			if v, ok, err := e.fortranMember(n); ok || err != nil {
				return v, err
			}
		}
		return e.binary(n)
	case syntax.Address:
		return e.address(n)
	case syntax.Deref:
		return e.deref(n)
	case syntax.Negative, syntax.Not, syntax.Complement, syntax.Positive:
		return e.unary(n)
	}
	return Value{}, e.fail(n.At, "an expression that is not evaluated here")
}

// at returns the object of a type at an address.
func (e *evaluation) at(t *Type, addr uint64) Value {
	return Value{Type: t, Place: InMemory, Addr: e.r.Arch.Wrap(addr), mem: e.c.mem, frame: e.c}
}

// pointer returns an address as a value.
func (e *evaluation) pointer(t *Type, addr uint64) Value {
	v := t.constant(int64(e.r.Arch.Wrap(addr)))
	v.mem, v.frame = e.c.mem, e.c
	return v
}

// referred returns what a reference refers to, and other values as they are.
func referred(v Value) Value {
	for range maxNames {
		switch v.Type.Strip().Kind {
		case Reference, RvalueReference:
			v = v.Deref()
		default:
			return v
		}
	}
	return v
}

// coerced evaluates a node for an operator: of an array it returns a pointer to the first element,
// of a function one to the function, of a reference the object.
func (e *evaluation) coerced(n *syntax.Node) (Value, error) {
	v, err := e.value(n)
	if err != nil {
		return v, err
	}
	return e.decayed(referred(v), n.At)
}

func (e *evaluation) decayed(v Value, at int) (Value, error) {
	to := v.Type.Strip()
	if to.Kind != Array && to.Kind != Function || to.Vector {
		return v, nil
	}
	if v.Place != InMemory {
		var err error
		if v, err = e.placed(&v, at); err != nil {
			return v, err
		}
	}
	if to.Kind == Array {
		to = to.Elem()
	} else {
		to = v.Type
	}
	return e.pointer(e.r.pointerTo(to), v.Addr), nil
}

// address evaluates &operand.
func (e *evaluation) address(n *syntax.Node) (Value, error) {
	if v, ok, err := e.addressOfMember(n); ok || err != nil {
		return v, err
	}
	v, err := e.value(n.Args[0])
	if untold := (*unknownType)(nil); errors.As(err, &untold) && n.Args[0].Kind == syntax.Name {
		return e.pointer(e.r.pointerTo(e.r.withoutInformation(false)), untold.addr), nil
	}
	if err != nil {
		return v, err
	}
	v = referred(v)
	switch {
	case v.err != nil && !IsAbsent(v.err):
		return v, e.because(n.At, v.err)
	case v.Place == InRegister && n.Args[0].Kind == syntax.Name:
		return v, e.fail(n.At, "Address requested for identifier \"%s\" which is in register $%s", n.Args[0].Text, e.r.Arch.RegName(v.Reg))
	case v.Place != InMemory:
		return v, e.fail(n.At, "Attempt to take address of value not located in memory.")
	}
	return e.pointer(e.r.pointerTo(v.Type), v.Addr), nil
}

// deref evaluates *operand.
func (e *evaluation) deref(n *syntax.Node) (Value, error) {
	v, err := e.coerced(n.Args[0])
	if err != nil {
		return v, err
	}
	if to, ok, err := e.pointedTo(&v, n.At); ok || err != nil {
		return to, err
	}
	t := v.Type.Strip()
	switch {
	case t.Kind == Pointer && t.Elem().Strip().Kind == Void:
		return v, e.generic(n.At)
	case t.Kind == MemberPointer:
		return v, e.fail(n.At, "Attempt to dereference pointer to member without an object")
	case t.Kind == Pointer:
		to := v.Deref()
		if to.err != nil && len(v.gaps) == 0 {
			return v, e.because(n.At, to.err)
		}
		return to, nil
	case v.isInteger(): // GDB takes a number for the address of a long
		addr, err := v.Uint()
		if err != nil {
			return v, e.because(n.At, err)
		}
		return e.at(e.r.basic("long"), addr), nil
	}
	return v, e.fail(n.At, "Attempt to take contents of a non-pointer value.")
}

// index evaluates operand[index].
func (e *evaluation) index(n *syntax.Node) (Value, error) {
	a, err := e.value(n.Args[0])
	if err != nil {
		return a, err
	}
	a = referred(a)
	if a.describe(); a.err != nil && !IsAbsent(a.err) {
		return a, e.because(n.At, a.err)
	}
	if v, ok, err := e.element(&a, n.Args[1], n.At, false); ok || err != nil {
		return v, err
	}
	i, err := e.coerced(n.Args[1])
	if err != nil {
		return i, err
	}
	t := a.Type.Strip()
	if t.Kind == Struct && e.f.Language == "c++" {
		return a, e.fail(n.At, "Could not find operator[].")
	}
	if t.Kind != Array && t.Kind != Pointer {
		return a, e.fail(n.At, "cannot subscript something of type `%s'", a.Type)
	}
	at, err := e.wholeNumber(&i, n.Args[1].At)
	if err != nil {
		return i, err
	}
	if t.Kind == Array {
		b := t.Bounds()
		from := at - b.Lower
		step, ok := t.stride()
		switch {
		case e.f.Language == "rust" && b.Known && (from < 0 || uint64(from) >= b.Count):
			return a, e.fail(n.Args[1].At, "Index greater than length")
		case a.Place == InMemory && !t.Vector && ok: // the rest of the array need not be there
			return e.at(t.Elem(), a.Addr+step*uint64(from)), nil
		case from >= 0 && uint64(from) < b.Count:
			return a.Index(uint64(from)), nil
		case !ok:
			return a, e.fail(n.At, "the size of an element is not known")
		}
		return a, e.fail(n.Args[1].At, "no such vector element")
	}
	p, err := e.advanced(n.At, &a, at)
	if err != nil {
		return p, err
	}
	if t.Elem().Strip().Kind == Void {
		return p, e.generic(n.At)
	}
	return p.Deref(), nil
}

// generic says that a pointer to void is followed.
func (e *evaluation) generic(at int) error {
	if e.f.Language == "c++" {
		return e.fail(at, "Attempt to dereference a generic pointer.")
	}
	return e.fail(at, "Attempt to take contents of a non-pointer value.")
}

// wholeNumber returns an index; of a floating-point number its whole part.
func (e *evaluation) wholeNumber(v *Value, at int) (int64, error) {
	if x, ok, err := v.floating(); ok && err == nil {
		return int64(truncated(x)), nil
	}
	if !v.isInteger() {
		return 0, e.fail(at, notNumber)
	}
	i, err := v.Int()
	if err != nil {
		return 0, e.because(at, err)
	}
	return i, nil
}

// alignOf evaluates alignof (type).
func (e *evaluation) alignOf(n *syntax.Node) (Value, error) {
	t, err := e.typeNamed(n.Type)
	if err != nil {
		return Value{}, err
	}
	if _, ok := t.SizeOf(); !ok {
		return Value{}, e.fail(n.At, "could not determine alignment of type")
	}
	return e.r.basic("unsigned long").constant(int64(t.Alignment(false))), nil
}

// sizeOf evaluates sizeof.
func (e *evaluation) sizeOf(n *syntax.Node) (Value, error) {
	var t *Type
	if n.Type != nil {
		var err error
		if t, err = e.typeNamed(n.Type); err != nil {
			return Value{}, err
		}
	} else {
		v, err := e.value(n.Args[0])
		if err != nil {
			return v, err
		}
		t = v.Type
	}
	for range maxNames {
		if k := t.Strip().Kind; k != Reference && k != RvalueReference {
			break
		}
		t = t.Strip().Elem()
	}
	size, ok := t.SizeOf()
	if !ok {
		return Value{}, e.fail(n.At, "the size of %s is not known", t)
	}
	return e.r.basic("unsigned long").constant(int64(size)), nil
}

// register evaluates $name: a register as the frame has it.
func (e *evaluation) register(n *syntax.Node) (Value, error) {
	a := e.r.Arch
	name := strings.ToLower(n.Text[1:])
	reg, found := a.PC, false
	switch name {
	case "pc":
		found = true
	case "sp":
		reg, found = a.SP, true
	case "fp":
		reg, found = a.FP, true
	}
	for _, x := range a.Regs {
		if !found && x.Name == name {
			reg, found = x.Num, true
		}
	}
	if e.c.frame.Physical == nil {
		return Value{}, e.missing(n.At, "no frame has registers here: %s", n.Text)
	}
	if !found {
		if v, ok := e.wideRegister(name); ok {
			return v, nil
		}
		return Value{}, e.missing(n.At, "no register is called %s", n.Text)
	}
	var t *Type
	switch {
	case reg == a.PC:
		t = e.r.codePointer(e.f.Language)
		v := e.pointer(t, e.c.frame.PC)
		v.Place, v.Reg = InRegister, reg
		return v, nil
	case reg == a.SP, reg == a.FP && (name == "fp" || a.FPIsAddress):
		t = e.r.pointerTo(e.r.void())
	default:
		bits := a.PtrSize * 8
		for _, x := range a.Regs {
			if x.Num == reg {
				bits = min(x.Bits, bits)
			}
		}
		word := map[bool]string{true: "int", false: "long"}[bits <= 32]
		if a.UnsignedRegisters {
			word = "unsigned " + word
		}
		t = e.r.basic(word)
	}
	bits, err := e.c.register(reg)
	if err != nil {
		return Value{Type: t, err: err, Place: InRegister, Reg: reg, frame: e.c, mem: e.c.mem}, nil
	}
	v := e.pointer(t, bits)
	if t.Kind != Pointer {
		v = t.constant(int64(bits))
		v.mem, v.frame = e.c.mem, e.c
	}
	v.Place, v.Reg = InRegister, reg
	return v, nil
}

// unitRef returns the unit of the frame's function; the zero Ref if it is not known.
func (e *evaluation) unitRef() symbol.Ref {
	if len(e.c.scopes.list) == 0 {
		return symbol.Ref{}
	}
	return e.c.scopes.list[0].Ref
}
