package calling

import (
	"context"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/gomodule"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Evaluator evaluates expressions in a process.
type Evaluator struct {
	Process inferior.Process
	Caller  *inferior.Caller
	Exe     string             // the path of the program's module
	Symbols *symbol.Symbolizer // nil: nothing is known of types
	// Frames returns the frames of the thread, the innermost first: what names of variables mean. It is nil if no debug information
	// is used.
	Frames func() []*value.Frame
	Auxv   []byte // the process's auxiliary vector, which leads to its libraries (getauxval(3))
	// Notes says what was taken for granted, one sentence each.
	Notes []string

	text       string
	ordered    []*target.Module // the modules of that generation, see inOrder
	generation uint64
	known      map[string]found // symbols of that generation that were found
	values     []Value          // of the expressions so far: $1, $2, …
	files      map[*elfimage.Image]*types
	sizes      *model // see model
}

// Evaluate evaluates an expression. In later ones, $1 is the value of the first expression, $2 of the second. The error is an [*expression.Error], an [*inferior.CallError], or says what is
// wrong with the process.
func (e *Evaluator) Evaluate(ctx context.Context, text string) (Value, error) {
	n, err := expression.Parse(text)
	if err != nil {
		return Value{}, err
	}
	if strings.Contains(text, ")(") { // maybe the types of a function's parameters, f(int)(1), which names of types tell
		if f := e.shownIn(); f != nil {
			if again, err := f.Parse(text); err == nil {
				n = again
			}
		}
	}
	e.text, e.Notes = text, nil
	if e.files == nil {
		e.files = map[*elfimage.Image]*types{}
	}
	v, err := e.value(ctx, n, nil)
	e.values = append(e.values, v)
	return v, err
}

// Prepare looks up all names of an expression, so that evaluating it takes less time. The error is that of
// a text that is no expression, or of a name that the process does not have.
func (e *Evaluator) Prepare(text string) error {
	n, err := expression.Parse(text)
	if err != nil {
		return err
	}
	e.text = text
	if e.files == nil {
		e.files = map[*elfimage.Image]*types{}
	}
	return e.prepare(n)
}

func (e *Evaluator) prepare(n *expression.Node) error {
	if n.Kind == expression.Name && !strings.HasPrefix(n.Text, "$") {
		f, err := e.symbol(n)
		if err != nil && e.Symbols != nil {
			return nil // it may be a variable of a frame
		}
		if err != nil {
			return err
		}
		if f.function && !f.indirect {
			e.describe(f.addr)
		}
	}
	for _, arg := range n.Args {
		if err := e.prepare(arg); err != nil {
			return err
		}
	}
	return nil
}

func (e *Evaluator) fail(at int, what string) error {
	return &expression.Error{Text: e.text, Column: at, What: what}
}

// remapper is a process whose modules are those of before until it is asked for them anew.
type remapper interface{ Remap() error }

func (e *Evaluator) symbol(n *expression.Node) (found, error) {
	f, several, ok := e.find(n.Text)
	if again, can := e.Process.(remapper); !ok && !several && can && again.Remap() == nil {
		f, several, ok = e.find(n.Text)
	}
	if several {
		return f, e.fail(n.At, fmt.Sprintf("several functions are called %s: write the types of the parameters behind the name, as in '%s(int)(1)', or use the linker's name of one of them, as nm shows it", n.Text, n.Text))
	}
	if !ok {
		return f, e.fail(n.At, fmt.Sprintf("no symbol %s is in the process", n.Text))
	}
	return f, nil
}

// value evaluates a node. cast is the type that the expression gives it, if it does.
func (e *Evaluator) value(ctx context.Context, n *expression.Node, cast *abi.Type) (v Value, err error) {
	order := e.Process.Arch().Order
	if n.Kind != expression.Call && e.sees(n) {
		known, err := e.look(ctx, n)
		if err != nil {
			return v, err
		}
		return e.passed(known, n.At)
	}
	switch n.Kind {
	case expression.Integer:
		of, name := e.model().integerType(n)
		return integerValue(of, name, n.Int, order), nil
	case expression.Char:
		return integerValue(charType, "char", n.Int, order), nil
	case expression.Float:
		if n.Suffix == "f" {
			return floatValue(floatType, "float", n.Float, e.order()), nil
		}
		return floatValue(doubleType, "double", n.Float, e.order()), nil
	case expression.String:
		return Value{Value: abi.Value{Type: e.model().pointer}, TypeName: "char *", text: n.Text, isText: true}, nil
	case expression.Array:
		return e.array(ctx, n)
	case expression.Name:
		return e.variable(n, cast)
	case expression.Address:
		return e.address(n.Args[0])
	case expression.Cast:
		return e.cast(ctx, n)
	case expression.Call:
		return e.call(ctx, n, cast)
	case expression.Binary:
		return e.binary(ctx, n)
	case expression.Negative, expression.Not, expression.Complement:
	default:
		return v, e.fail(n.At, "a call does not look into values: --print of 'sfwalk attach' does")
	}
	v, err = e.value(ctx, n.Args[0], nil)
	if err != nil {
		return v, err
	}
	if f, ok := v.float(order); ok && n.Kind == expression.Negative {
		return floatValue(v.Type, v.TypeName, -f, e.order()), nil
	}
	x, ok := v.integer(order)
	if !ok {
		return v, e.fail(n.At, "an operator that this value does not take")
	}
	switch n.Kind {
	case expression.Negative:
		x = -x
	case expression.Complement:
		x = ^x
	case expression.Not:
		return integerValue(intType, "int", btoi(x == 0), order), nil
	}
	if v.Type.Size < 4 {
		return integerValue(intType, "int", x, order), nil
	}
	return integerValue(v.Type, v.TypeName, x, order), nil
}

func btoi(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// array evaluates the elements of an array. The widest gives the type.
func (e *Evaluator) array(ctx context.Context, n *expression.Node) (v Value, err error) {
	v = Value{Value: abi.Value{Type: e.model().pointer}, TypeName: "array", elements: []Value{}}
	var widest *abi.Type
	for _, arg := range n.Args {
		x, err := e.value(ctx, arg, nil)
		if err == nil && (x.isText || x.elements != nil) {
			x, err = e.convert(x, e.model().pointer, arg.At)
		}
		if err != nil {
			return v, err
		}
		if widest == nil || x.Type.Kind == abi.Float && widest.Kind != abi.Float || x.Type.Size > widest.Size {
			widest = x.Type
		}
		v.elements = append(v.elements, x)
	}
	for i := range v.elements {
		if v.elements[i], err = e.convert(v.elements[i], widest, n.Args[i].At); err != nil {
			return v, err
		}
	}
	return v, nil
}

// variable evaluates a name.
func (e *Evaluator) variable(n *expression.Node, cast *abi.Type) (Value, error) {
	if number, ok := strings.CutPrefix(n.Text, "$"); ok {
		i, err := strconv.Atoi(number)
		if err != nil || i < 1 || i > len(e.values) || e.values[i-1].Type == nil {
			return Value{}, e.fail(n.At, "there is no earlier expression "+n.Text)
		}
		return e.values[i-1], nil
	}
	f, err := e.symbol(n)
	switch {
	case err != nil:
		return Value{}, err
	case f.function:
		return e.address(n)
	case cast == nil || cast.Kind == abi.Void:
		return Value{}, e.fail(n.At, fmt.Sprintf("the type of %s is not known: cast it, as in '(long) %s', or take its address, &%s", n.Text, n.Text, n.Text))
	}
	b := make([]byte, cast.Size)
	if _, err := e.Process.Memory().ReadMemory(f.addr, b); err != nil {
		return Value{}, err
	}
	return Value{Value: abi.Value{Type: cast, Bytes: b}}, nil
}

// address evaluates & and a name.
func (e *Evaluator) address(n *expression.Node) (Value, error) {
	if n.Kind != expression.Name {
		return Value{}, e.fail(n.At, "only a symbol has an address here")
	}
	f, err := e.symbol(n)
	return integerValue(e.model().pointer, "void *", f.addr, e.Process.Arch().Order), err
}

func (e *Evaluator) cast(ctx context.Context, n *expression.Node) (Value, error) {
	t, err := e.typeOf(n.Type)
	if err != nil {
		return Value{}, err
	}
	v, err := e.value(ctx, n.Args[0], t)
	if err != nil {
		return v, err
	}
	if t.Kind == abi.Void {
		v = Value{Value: abi.Value{Type: t}}
	} else if v, err = e.convert(v, t, n.Args[0].At); err != nil {
		return v, err
	}
	v.TypeName, v.dwarf = n.Type.String(), e.castType(n.Type)
	return v, nil
}

// call calls a function.
func (e *Evaluator) call(ctx context.Context, n *expression.Node, cast *abi.Type) (v Value, err error) {
	callee := n.Args[0]
	var f found
	var to called
	if callee.Kind == expression.Name && !strings.HasPrefix(callee.Text, "$") && !e.sees(callee) {
		if f, err = e.symbol(callee); err != nil {
			return v, err
		}
		if !f.function {
			return v, e.fail(callee.At, callee.Text+" is no function")
		}
		if f.indirect {
			if f.addr, err = e.resolve(ctx, f.addr); err != nil {
				return v, err
			}
		}
	} else {
		if to, err = e.callee(ctx, callee); err != nil {
			if told, ok := e.told(n); ok {
				return e.passed(told, n.At)
			}
			return v, err
		}
		f.addr = to.addr
	}
	known := to.as
	if known == nil {
		known = e.describe(f.addr)
	}
	of := &abi.Func{Unprototyped: true, Result: cast}
	if known != nil {
		of = known.abi
		if why := known.vectors(e.Process.Arch()); why != "" {
			return v, e.fail(callee.At, why)
		}
	} else if to.of != nil {
		if of, err = e.funcOf(to.of); err != nil {
			return v, e.fail(callee.At, err.Error())
		}
	} else if cast == nil {
		of.Result = intType
		if callee.Kind == expression.Name {
			e.Notes = append(e.Notes, fmt.Sprintf("what %s returns is not known: taken for an int; cast it, as in '(long) %s(…)'", callee.Text, callee.Text))
		}
	}
	args, err := e.arguments(ctx, n, of, known, to.first())
	if err != nil {
		return v, err
	}
	v.Bytes, err = e.Caller.Call(ctx, f.addr, of, args)
	if errors.Is(err, abi.ErrType) {
		return v, e.fail(n.At, err.Error())
	}
	v.Type = voidType
	if of.Result != nil {
		v.Type = of.Result
	}
	if known != nil && known.result != nil {
		v.dwarf, v.TypeName = known.result, known.result.String()
	}
	v.of = resultType(to.of)
	switch {
	case v.of != nil:
		v.TypeName = v.of.String()
	case to.of != nil:
	case v.dwarf == nil && cast == nil:
		v.TypeName = "int"
	}
	if v.Type.Kind == abi.Void {
		v.TypeName = "void"
	}
	_, isEnum := under(v.dwarf).(*dwarf.EnumType)
	if err == nil && v.of == nil && (v.Type.Kind == abi.Struct || v.Type.Kind == abi.Union || isEnum) {
		v.of = e.resultOf(callee)
	}
	return v, err
}

// arguments evaluates the arguments of a call.
func (e *Evaluator) arguments(ctx context.Context, n *expression.Node, of *abi.Func, known *function, args []abi.Value) (_ []abi.Value, err error) {
	given, before := n.Args[1:], len(args)
	if more := of.Variadic || of.Unprototyped; before+len(given) < len(of.Params) || before+len(given) > len(of.Params) && !more {
		what := fmt.Sprintf("the function takes %d arguments, not %d", len(of.Params)-before, len(given))
		if len(of.Params)-before == 1 {
			what = fmt.Sprintf("the function takes 1 argument, not %d", len(given))
		}
		return nil, e.fail(n.At, what)
	}
	for i, arg := range given {
		i += before
		v, err := e.value(ctx, arg, nil)
		if err != nil {
			return nil, err
		}
		if v.Type.Kind == abi.Void {
			return nil, e.fail(arg.At, "an argument without a value")
		}
		switch {
		case i < len(of.Params) && of.Params[i].ByReference:
			return nil, e.fail(arg.At, "an object of a class whose constructor copies it: only code of the program makes such a copy")
		case i < len(of.Params) && known != nil && known.refers(i) != nil:
			v, err = e.referTo(&v, known.refers(i), arg.At)
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

// order returns the processor's order of bytes.
func (e *Evaluator) order() byteOrder {
	if order, ok := e.Process.Arch().Order.(byteOrder); ok {
		return order
	}
	return binary.LittleEndian
}

// Show writes a value as GDB's call does; "" if there is none.
func (e *Evaluator) Show(v *Value) string {
	if v.Type == nil || v.Type.Kind == abi.Void {
		return ""
	}
	if v.isText {
		return quoteText([]byte(v.text), true)
	}
	if v.array != nil {
		return (&value.Printer{UTF8: true}).Print(v.array)
	}
	if v.of != nil {
		if f := e.shownIn(); f != nil {
			made := f.Made(v.of, v.Bytes)
			return (&value.Printer{UTF8: true}).Print(&made)
		}
	}
	s := &shower{order: e.Process.Arch().Order, memory: e.Process.Memory(), longDouble: e.Process.Arch().LongDouble}
	return s.show(v.dwarf, v.Type, v.Bytes)
}

// RunsGo reports whether a thread whose PC is pc runs Go code. Its stack is small then, and is moved when it
// grows: C functions cannot run on it.
func RunsGo(p inferior.Process, pc uint64) bool {
	m := p.Modules().Find(pc)
	if m == nil {
		return false
	}
	table, bias, err := gomodule.Table(m)
	if err != nil {
		return false
	}
	_, ok := table.Find(pc - bias)
	return ok
}
