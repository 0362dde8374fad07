package calling

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/value"
)

// sees reports whether debug information is asked for a node: it looks into values, or is the name of a variable
// that the thread's frames know.
func (e *Evaluator) sees(n *expression.Node) bool {
	if n == nil || e.Frames == nil {
		return false
	}
	switch n.Kind {
	case expression.Member, expression.Deref, expression.Index, expression.At,
		expression.SizeOf, expression.AlignOf, expression.Conditional:
		return true
	case expression.Name:
		if n.Overload {
			return true
		}
		if strings.HasPrefix(n.Text, "$") {
			v := e.earlier(n)
			return v != nil && v.of != nil
		}
		return e.isVariable(n)
	case expression.Call, expression.String, expression.Array:
		return false
	case expression.Cast:
		if _, err := e.typeOf(n.Type); err != nil {
			return true
		}
	}
	for _, arg := range n.Args {
		if e.sees(arg) {
			return true
		}
	}
	return false
}

// earlier returns the value that $1, $2, … names; nil if there is none.
func (e *Evaluator) earlier(n *expression.Node) *Value {
	number, _ := strings.CutPrefix(n.Text, "$")
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(e.values) || e.values[i-1].Type == nil {
		return nil
	}
	return &e.values[i-1]
}

// isVariable reports whether a name names a variable whose type is known.
func (e *Evaluator) isVariable(n *expression.Node) bool {
	if s, _, ok := e.find(n.Text); ok && s.function {
		return false
	}
	f := e.frameOf(n)
	return f != nil && e.means(f, n)
}

// means reports whether a frame knows what a name means. That is a local variable, or a global one at the address that
// the symbol of this name has: debug information of a library may have a namesake.
func (e *Evaluator) means(f *value.Frame, n *expression.Node) bool {
	v, err := f.EvaluateNode(e.text, n, nil)
	if err != nil {
		return false
	}
	for _, list := range [][]value.Variable{f.Locals, f.Arguments} {
		for i := range list {
			if list[i].Name == n.Text {
				return true
			}
		}
	}
	s, _, ok := e.find(n.Text)
	return !ok || v.Place != value.InMemory || v.Addr == s.addr
}

// frameOf returns the innermost frame that has all names of a node; the innermost one, if none has all. It is nil
// if nothing is known of the thread's frames.
func (e *Evaluator) frameOf(n *expression.Node) *value.Frame {
	if e.Frames == nil {
		return nil
	}
	names := names(nil, n)
	frames := e.Frames()
	for _, f := range frames {
		all := true
		for _, name := range names {
			if s, _, ok := e.find(name.Text); ok && s.function && !name.Overload {
				continue
			}
			if !e.means(f, name) {
				all = false
				break
			}
		}
		if all {
			return f
		}
	}
	if len(frames) > 0 {
		return frames[0]
	}
	return nil
}

// names appends the names in a node, without those that name earlier values.
func names(list []*expression.Node, n *expression.Node) []*expression.Node {
	if n == nil {
		return list
	}
	if n.Kind == expression.Name && !strings.HasPrefix(n.Text, "$") {
		list = append(list, n)
	}
	for _, arg := range n.Args {
		list = names(list, arg)
	}
	return list
}

// look evaluates a node by debug information. Calls in it run.
func (e *Evaluator) look(ctx context.Context, n *expression.Node) (v value.Value, err error) {
	f := e.frameOf(n)
	if f == nil {
		return v, e.fail(n.At, "nothing is known of the frames of the thread")
	}
	v, err = f.EvaluateNode(e.text, n, func(x *expression.Node) (v value.Value, ok bool, err error) {
		switch {
		case x.Kind == expression.Call:
			made, err := e.value(ctx, x, nil)
			if err != nil {
				return v, false, err
			}
			v, err = e.described(f, x, &made)
			return v, err == nil, err
		case x.Kind == expression.Name && strings.HasPrefix(x.Text, "$"):
			if made := e.earlier(x); made != nil {
				v, err = e.described(f, x, made)
				return v, err == nil, err
			}
		}
		return v, false, nil
	})
	if err != nil && !errors.As(err, new(*expression.Error)) {
		err = e.fail(n.At, err.Error())
	}
	return v, err
}

// described returns a value that a call has made as one of debug information.
func (e *Evaluator) described(f *value.Frame, n *expression.Node, made *Value) (v value.Value, err error) {
	if made.of == nil && n.Kind == expression.Call {
		made.of = e.resultOf(n.Args[0])
	}
	if made.of != nil {
		return f.Made(made.of, made.Bytes), nil
	}
	name := ""
	switch t := made.Type; {
	case t.Kind == abi.Integer || t.Kind == abi.Pointer:
		name = map[uint64]string{1: "char", 2: "short", 4: "int", 8: "long long", 16: "__int128"}[t.Size]
		if name != "" && !t.Signed {
			name = "unsigned " + name
		}
	case t.Kind == abi.Float || t.Kind == abi.X87:
		name = map[uint64]string{4: "float", 8: "double", 12: "long double", 16: "long double"}[t.Size]
	}
	if t := f.Number(name); t != nil {
		return f.Made(t, made.Bytes), nil
	}
	return v, e.fail(n.At, "nothing is known of the type of what the call returns")
}

// resultOf returns the type of what a function returns; nil if no debug information tells.
func (e *Evaluator) resultOf(callee *expression.Node) *value.Type {
	f := e.frameOf(callee)
	if f == nil {
		return nil
	}
	of, err := f.EvaluateNode(e.text, callee, nil)
	if err != nil {
		return nil
	}
	return resultType(functionType(of.Type))
}

// resultType returns what a function of a type returns; nil if it is nothing, or if the entry leaves it to another one.
func resultType(t *value.Type) *value.Type {
	if t == nil || t.Elem().Strip().Kind == value.Void {
		return nil
	}
	return t.Elem()
}

// told returns what package value tells of a call without running anything: the size of a container, for instance.
func (e *Evaluator) told(n *expression.Node) (v value.Value, ok bool) {
	f := e.frameOf(n)
	if f == nil || n.Args[0].Kind != expression.Member {
		return v, false
	}
	v, err := f.EvaluateNode(e.text, n, nil)
	return v, err == nil
}

// functionType returns the type of the function that t is, or points to; nil if it does neither.
func functionType(t *value.Type) *value.Type {
	t = t.Strip()
	if t.Kind == value.Pointer || t.Kind == value.Reference {
		t = t.Elem().Strip()
	}
	if t.Kind != value.Function {
		return nil
	}
	return t
}

// passed returns a value of debug information as one that a call can pass.
func (e *Evaluator) passed(v value.Value, at int) (Value, error) {
	v = v.Referred()
	t := v.Type.Strip()
	order := e.Process.Arch().Order
	if t.Kind == value.Function || t.Kind == value.Array && !t.Vector {
		if v.Place != value.InMemory {
			return Value{}, e.fail(at, "an array that is in no memory has no address")
		}
		p := integerValue(e.model().pointer, v.Type.String(), v.Addr, order)
		if t.Kind == value.Array {
			p.array = &v
		}
		return p, nil
	}
	of, err := e.abiOf(t, 0)
	if err != nil {
		return Value{}, e.fail(at, err.Error())
	}
	made := Value{Value: abi.Value{Type: of}, TypeName: v.Type.String(), of: v.Type}
	if v.Place == value.InMemory && v.Bits == 0 {
		made.at, made.hasAddress = v.Addr, true
	}
	if v.Bits != 0 {
		n, err := v.Int()
		if err != nil {
			return made, e.fail(at, err.Error())
		}
		made.Bytes = putInteger(uint64(n), of.Size, order)
		return made, nil
	}
	if made.Bytes, err = v.Bytes(); err != nil {
		what := err.Error()
		if errors.Is(err, value.ErrOptimizedOut) {
			what = "value has been optimized out"
		}
		return made, e.fail(at, what)
	}
	return made, nil
}
