package value

import (
	"errors"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// run evaluates a call of a function of the target. cast is the type that the expression gives the
// result; nil if it gives none.
func (e *evaluation) run(n *syntax.Node, cast *Type) (Value, error) {
	to, err := e.callee(n.Args[0])
	var given []Value
	if to.among != nil || errors.Is(err, ErrNotInScope) && e.byArguments(n.Args[0]) {
		var wrong error
		if given, wrong = e.given(n); wrong != nil {
			return Value{}, wrong
		}
		to, err = e.chosen(to, n, given, err)
	}
	if err != nil {
		if to.library != nil && e.f.Language == "c++" {
			if v, ok, wrong := e.libraryMethod(*to.library, n.Args[0], n.Args[1:]); ok || wrong != nil {
				return v, wrong
			}
		}
		return Value{}, err
	}
	c := &Call{Symbol: to.Symbol, Type: to.t, Result: e.r.basic("int")}
	switch {
	case to.t != nil:
		c.Result = to.t.Elem()
	case cast != nil:
		c.Result = cast
	case n.Args[0].Kind == syntax.Name:
		name := n.Args[0].Text
		e.note("what %s returns is not known: taken for an int; cast it, as in '(long) %s(…)'", name, name)
	}
	if to.this != nil {
		c.Arguments = append(c.Arguments, *to.this)
	}
	if err := e.arguments(c, n, given); err != nil {
		return Value{}, err
	}
	b, err := e.session.Caller.Call(e.ctx, c)
	if why := (*NotCallable)(nil); errors.As(err, &why) {
		err = e.fail(n.Args[0].At, "%s", why)
	}
	if err != nil {
		return Value{}, err
	}
	return Value{Type: c.Result, bytes: b, read: true, mem: e.c.mem, frame: e.c}, nil
}

// given evaluates the arguments of a call.
func (e *evaluation) given(n *syntax.Node) (list []Value, err error) {
	for _, arg := range n.Args[1:] {
		v, err := e.value(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, referred(v))
	}
	return list, nil
}

// arguments appends the arguments of a call, converted to the types of the parameters. known are
// their values; nil if they are not evaluated.
func (e *evaluation) arguments(c *Call, n *syntax.Node, known []Value) error {
	var params []*Type
	more := true
	if c.Type != nil {
		params, more = c.Type.Parameters()
		more = more || !c.Type.prototyped()
		params = params[min(len(c.Arguments), len(params)):]
	}
	given := n.Args[1:]
	if len(given) < len(params) || len(given) > len(params) && !more {
		if len(params) == 1 {
			return e.fail(n.At, "the function takes 1 argument, not %d", len(given))
		}
		return e.fail(n.At, "the function takes %d arguments, not %d", len(params), len(given))
	}
	for i, arg := range given {
		var v Value
		var err error
		if known != nil {
			v = known[i]
		} else if v, err = e.value(arg); err != nil {
			return err
		}
		switch v = referred(v); {
		case v.Type.Strip().Kind == Void:
			return e.fail(arg.At, "an argument without a value")
		case i < len(params):
			v, err = e.argument(v, params[i], arg.At)
		default:
			v, err = e.decayed(v, arg.At)
		}
		if err != nil {
			return err
		}
		if _, err := v.Bytes(); err != nil {
			return e.because(arg.At, err)
		}
		c.Arguments = append(c.Arguments, v)
	}
	return nil
}

// argument converts a value to the type of a parameter, as C does in an assignment.
func (e *evaluation) argument(v Value, t *Type, at int) (Value, error) {
	to, from := t.Strip(), v.Type.Strip()
	wrong := func() error {
		return e.fail(at, "a value of type %s is passed where the function takes %s", v.Type, t)
	}
	switch to.Kind {
	case Reference, RvalueReference:
		return e.bound(v, t, at)
	case Struct, Union:
		if of, err := t.ABI(); err == nil && of.ByReference {
			return v, e.fail(at, "an object of a class whose constructor copies it: only code of the program makes such a copy")
		}
		if from.Kind != to.Kind || from.FullName() != to.FullName() {
			if base, ok := e.related(&v, t); ok && from.Kind == Struct {
				return base, nil
			}
			return v, wrong()
		}
		return v, nil
	case Array: // a vector
		if size, _ := v.size(); from.Kind != Array || !from.Vector || size != to.sizeOrZero() {
			return v, wrong()
		}
		return v, nil
	case Complex:
		if from.Kind == Complex && from.Size == to.Size {
			return v, nil
		}
	case Pointer:
		if from.Kind == Float {
			return v, wrong()
		}
	default:
		if from.Kind == Array && !from.Vector && to.Kind != Bool && to.sizeOrZero() != uint64(e.r.Arch.PtrSize) {
			return v, wrong()
		}
	}
	return e.cast(v, t, at)
}

// bound returns the reference that is passed for a value: to the object itself, or to a copy if
// that is in no memory or is a number of another type.
func (e *evaluation) bound(v Value, t *Type, at int) (Value, error) {
	to, from := t.Strip().Elem().Strip(), v.Type.Strip()
	size, _ := v.size()
	object := to.Kind == Struct || to.Kind == Union
	same := from.Kind == to.Kind && size == to.sizeOrZero()
	switch {
	case object && from.FullName() == to.FullName():
	case object:
		base, ok := e.related(&v, to)
		if !ok {
			return v, e.fail(at, "a value of type %s is no object of the class that the function's reference refers to", v.Type)
		}
		v = base
	case from.Kind == Array && to.Kind == Array, same && v.Bits == 0:
	default:
		var err error
		if v, err = e.cast(v, to, at); err != nil {
			return v, err
		}
	}
	if v.Place != InMemory {
		var err error
		if v, err = e.placed(&v, at); err != nil {
			return v, err
		}
	}
	return e.pointer(t, v.Addr), nil
}

// array evaluates {1, 2, 3}: an array that is in no memory. The widest element gives the type.
func (e *evaluation) array(n *syntax.Node) (Value, error) {
	var list []Value
	widest := e.r.basic("int")
	for i, arg := range n.Args {
		v, err := e.coerced(arg)
		if err != nil {
			return v, err
		}
		size, _ := v.size()
		float := v.Type.Strip().Kind == Float && widest.Strip().Kind != Float
		if i == 0 || float || size > widest.sizeOrZero() {
			widest = v.Type
		}
		list = append(list, v)
	}
	var b []byte
	for i := range list {
		v, err := e.argument(list[i], widest, n.Args[i].At)
		if err != nil {
			return v, err
		}
		part, err := v.Bytes()
		if err != nil {
			return v, e.because(n.Args[i].At, err)
		}
		b = append(b, part...)
	}
	return Value{Type: e.r.arrayOf(widest, uint64(len(list))), bytes: b, read: true, mem: e.c.mem, frame: e.c}, nil
}
