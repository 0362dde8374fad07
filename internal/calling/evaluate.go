package calling

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/goruntime"
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
	// Frames returns the frames of the thread, the innermost first: what names of variables mean. It is nil if no
	// debug information is used.
	Frames func() []*value.Frame
	Auxv   []byte // the process's auxiliary vector, which leads to its libraries (getauxval(3))
	// Notes says what was taken for granted, one sentence each.
	Notes []string

	text       string
	ordered    []*target.Module // the modules of that generation, see inOrder
	generation uint64
	known      map[string]found // symbols of that generation that were found
	values     []Value          // of the expressions so far: $1, $2, …
	files      map[*elf.Image]*types
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
		e.files = map[*elf.Image]*types{}
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
		e.files = map[*elf.Image]*types{}
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

// order returns the processor's order of bytes.
func (e *Evaluator) order() byteOrder {
	if order, ok := e.Process.Arch().Order.(byteOrder); ok {
		return order
	}
	return binary.LittleEndian
}

// RunsGo reports whether a thread whose PC is pc runs Go code. Its stack is small then, and is moved when it
// grows: C functions cannot run on it.
func RunsGo(p inferior.Process, pc uint64) bool {
	m := p.Modules().Find(pc)
	if m == nil {
		return false
	}
	table, bias, err := goruntime.Table(m)
	if err != nil {
		return false
	}
	_, ok := table.Find(pc - bias)
	return ok
}
