package value

import (
	"errors"
	"fmt"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// call evaluates a call. Elements of Fortran's arrays, conversions, len and cap of Go look like
// one, and run nothing. Without a Caller, neither do methods of C++'s containers that tell what
// their printers know. cast is as for run.
func (e *evaluation) call(n *syntax.Node, cast *Type) (Value, error) {
	of := n.Args[0]
	if e.f.Language == "fortran" {
		if v, ok, err := e.fortranElement(n); ok || err != nil {
			return v, err
		}
	}
	if e.f.Language == "go" && of.Kind == syntax.Name && len(n.Args) == 2 && (of.Text == "len" || of.Text == "cap") {
		return e.goLength(n, of.Text)
	}
	if e.f.Language == "go" && of.Kind == syntax.Name && len(n.Args) == 2 {
		if t := e.goNamed(of.Text); t != nil {
			v, err := e.value(n.Args[1])
			if err != nil {
				return v, err
			}
			return e.cast(v, t, n.At)
		}
	}
	if e.session != nil && e.session.Caller != nil {
		return e.run(n, cast)
	}
	if of.Kind == syntax.Member && e.f.Language == "c++" {
		o, err := e.value(of.Args[0])
		if err != nil {
			return o, err
		}
		if v, ok, err := e.libraryMethod(o, of, n.Args[1:]); ok || err != nil {
			return v, err
		}
	}
	if of.Kind == syntax.Name {
		if _, err := e.name(of); errors.Is(err, ErrNotInScope) {
			return Value{}, &syntax.Error{
				Text: e.text, Column: of.At, What: fmt.Sprintf("No symbol \"%s\" in current context.", of.Text),
				Cause: errors.Join(ErrCalls, ErrNotInScope),
			}
		}
	}
	return Value{}, &syntax.Error{
		Text: e.text, Column: n.At, What: "nothing runs the function here: --print calls functions of live processes (attach, remote)", Cause: ErrCalls,
	}
}

// libraryMethod evaluates a method of an object of C++'s library, and runs nothing. ok is false if
// it is no known method.
func (e *evaluation) libraryMethod(o Value, of *syntax.Node, args []*syntax.Node) (v Value, ok bool, err error) {
	if o = referred(o); of.Arrow {
		if to, ok, err := e.pointedTo(&o, of.At); err != nil {
			return v, false, err
		} else if ok {
			o = to
		} else if o.Type.Strip().Kind == Pointer {
			o = o.Deref()
		}
	}
	method := func(name string) (Value, bool, error) {
		x, ok, err := asked(&o, func(p Operators) (Value, bool, error) { return p.Method(&o, name) })
		if err != nil {
			err = e.because(of.At, err)
		}
		return x, ok, err
	}
	switch name := of.Text; name {
	case "at":
		if len(args) != 1 {
			return v, false, nil
		}
		return e.element(&o, args[0], of.At, true)
	case "empty", "front", "back":
		size, ok, err := method("size")
		if !ok || err != nil || len(args) > 0 {
			return v, false, err
		}
		n, err := size.Int()
		switch {
		case err != nil:
			return v, false, e.because(of.At, err)
		case name == "empty":
			return e.boolean(n == 0), true, nil
		case n == 0:
			return v, false, e.fail(of.At, "the container is empty")
		case name == "front":
			n = 1
		}
		return e.nth(&o, n-1, of.At, true)
	}
	if len(args) > 0 {
		return v, false, nil
	}
	return method(of.Text)
}
