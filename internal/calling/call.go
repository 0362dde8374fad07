package calling

import (
	"context"
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/linkmap"
)

// call calls a function. cast is the type that the expression gives the result, if it does.
func (e *Evaluator) call(ctx context.Context, n *expression.Node, cast *abi.Type) (v Value, err error) {
	callee := n.Args[0]
	to, err := e.callee(ctx, callee)
	if err != nil {
		if told, ok := e.told(n); ok {
			return e.passed(told, n.At)
		}
		return v, err
	}
	of, err := e.signature(callee, &to, cast)
	if err != nil {
		return v, err
	}
	args, err := e.arguments(ctx, n, of, &to)
	if err != nil {
		return v, err
	}
	if why := e.vectors(&to, of, args); why != "" {
		return v, e.fail(callee.At, why)
	}
	b, err := e.Caller.Call(ctx, to.addr, of, args)
	if errors.Is(err, abi.ErrType) {
		return v, e.fail(n.At, err.Error())
	}
	v = returned(&to, of, cast)
	v.Bytes = b
	_, isEnum := under(v.dwarf).(*dwarf.EnumType)
	if err == nil && v.of == nil && (v.Type.Kind == abi.Struct || v.Type.Kind == abi.Union || isEnum) {
		v.of = e.resultOf(callee)
	}
	return v, err
}

// signature says how to call a function. It notes what it takes for granted.
func (e *Evaluator) signature(callee *expression.Node, to *called, cast *abi.Type) (*abi.Func, error) {
	if to.known == nil {
		to.known = e.describe(to.addr)
	}
	switch {
	case to.known != nil:
		return to.known.abi, nil
	case to.of != nil:
		of, err := e.funcOf(to.of)
		if err != nil {
			return nil, e.fail(callee.At, err.Error())
		}
		return of, nil
	case cast != nil:
		return &abi.Func{Unprototyped: true, Result: cast}, nil
	}
	if callee.Kind == expression.Name {
		e.Notes = append(e.Notes, fmt.Sprintf(
			"what %s returns is not known: taken for an int; cast it, as in '(long) %s(…)'", callee.Text, callee.Text))
	}
	return &abi.Func{Unprototyped: true, Result: intType}, nil
}

// returned returns a function's result as far as it is known before the call: all but its bytes.
func returned(to *called, of *abi.Func, cast *abi.Type) (v Value) {
	v.Type = voidType
	if of.Result != nil {
		v.Type = of.Result
	}
	if to.known != nil && to.known.result != nil {
		v.dwarf, v.TypeName = to.known.result, to.known.result.String()
	}
	switch v.of = resultType(to.of); {
	case v.of != nil:
		v.TypeName = v.of.String()
	case to.of == nil && v.dwarf == nil && cast == nil:
		v.TypeName = "int"
	}
	if v.Type.Kind == abi.Void {
		v.TypeName = "void"
	}
	return v
}

// arguments evaluates the arguments of a call.
func (e *Evaluator) arguments(
	ctx context.Context, n *expression.Node, of *abi.Func, to *called,
) (args []abi.Value, err error) {
	if to.this != nil {
		args = append(args, to.this.Value)
	}
	given, takes := n.Args[1:], len(of.Params)-len(args)
	if more := of.Variadic || of.Unprototyped; len(given) < takes || len(given) > takes && !more {
		what := fmt.Sprintf("the function takes %d arguments, not %d", takes, len(given))
		if takes == 1 {
			what = fmt.Sprintf("the function takes 1 argument, not %d", len(given))
		}
		return nil, e.fail(n.At, what)
	}
	for _, arg := range given {
		i := len(args)
		v, err := e.value(ctx, arg, nil)
		if err != nil {
			return nil, err
		}
		if v.Type.Kind == abi.Void {
			return nil, e.fail(arg.At, "an argument without a value")
		}
		switch {
		case i < len(of.Params) && of.Params[i].ByReference:
			return nil, e.fail(arg.At,
				"an object of a class whose constructor copies it: only code of the program makes such a copy")
		case i < len(of.Params) && to.known.refers(i) != nil:
			v, err = e.referTo(&v, to.known.refers(i), arg.At)
		case i < len(of.Params):
			v, err = e.convert(v, of.Params[i], arg.At)
		case v.isText || v.elements != nil:
			v, err = e.convert(v, e.model().pointer, arg.At)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, v.Value)
	}
	return args, nil
}

// resolve asks the function at addr for the address of the one that this processor shall use.
func (e *Evaluator) resolve(ctx context.Context, addr uint64) (uint64, error) {
	b, err := e.Caller.Call(ctx, addr, &abi.Func{Result: e.model().pointer, Unprototyped: true}, e.resolverArguments())
	if err != nil {
		return 0, err
	}
	return e.Process.Arch().Word(b), nil
}

// resolverArguments are what the dynamic linker passes to such a function: the features of the processor, but
// on amd64.
func (e *Evaluator) resolverArguments() []abi.Value {
	a := e.Process.Arch()
	if !a.ResolverFeatures {
		return nil
	}
	features := linkmap.ParseAuxv(e.Auxv, a)[linkmap.ATHWCap]
	return []abi.Value{{Type: e.model().ulong, Bytes: putInteger(features, e.model().ulong.Size, a.Order)}}
}
