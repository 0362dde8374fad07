//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/value"
)

// Clients of Delve print an api.Variable by its kind, as Go would have it: structs and arrays by
// their children, a pointer by what it points to, and numbers by their text as it is.

// Variables returns the arguments and local variables of a frame that is not Go's, in Delve's API.
// cfg bounds what is read of each, but in frames of languages, which have bounds of their own. The
// error wraps [ErrNoVariables] and says why there are none.
func (f *Frame) Variables(cfg proc.LoadConfig) (arguments, locals []api.Variable, err error) {
	if f.Language != nil {
		of, in, err := f.ofLanguage()
		return convertedTexts(of, api.VariableArgument), convertedTexts(in, 0), err
	}
	of, err := f.Values()
	if err != nil {
		return nil, nil, err
	}
	seen := make(map[string]bool) // inner ones come first
	locals = converted(of.Locals, seen, cfg)
	return converted(of.Arguments, seen, cfg), locals, nil
}

func converted(list []value.Variable, seen map[string]bool, cfg proc.LoadConfig) []api.Variable {
	out := make([]api.Variable, 0, len(list))
	for i := range list {
		v := &list[i]
		x := v.Value()
		a := ConvertValue(v.Name, &x, cfg)
		a.DeclLine = int64(v.Line)
		if v.Argument {
			a.Flags |= api.VariableArgument
		}
		if v.Constant {
			a.Flags |= api.VariableConstant
		}
		if seen[v.Name] {
			a.Flags |= api.VariableShadowed
		}
		seen[v.Name] = true
		out = append(out, a)
	}
	return out
}

// ConvertValue converts a value to Delve's API. cfg bounds what is read of it, as it does for
// Delve's own.
func ConvertValue(name string, v *value.Value, cfg proc.LoadConfig) api.Variable {
	c := &converter{cfg: cfg, left: maxVariables}
	c.cfg.MaxVariableRecurse = min(cfg.MaxVariableRecurse, maxRecursion)
	a := c.variable(v, 0)
	a.Name = printable.Escape(name)
	switch v.Place {
	case value.InMemory:
		a.LocationExpr = fmt.Sprintf("memory at %#x", v.Addr)
	case value.InRegister:
		a.LocationExpr = fmt.Sprintf("register %d of DWARF's", v.Reg)
	case value.InPieces:
		a.LocationExpr = "in several pieces"
	}
	return a
}

// Bounds on one value, whatever a client asks for.
const (
	maxVariables = 1 << 16 // parts, and parts of them
	maxRecursion = 32
)

// nowhere is the address of what has none. A client takes 0 for nil. Delve uses the same.
const nowhere = 0xbeed000000000000

// converter converts one value.
type converter struct {
	cfg  proc.LoadConfig
	left int
}

var printer = value.Printer{UTF8: true}

// described returns v without what it holds.
func described(v *value.Value) api.Variable {
	a := api.Variable{Type: v.Type.String(), RealType: v.Type.Strip().String(), Addr: v.Addr}
	if v.Place != value.InMemory || v.Addr == 0 {
		a.Addr, a.Flags = nowhere, api.VariableFakeAddress
	}
	return a
}

func (c *converter) variable(v *value.Value, level int) api.Variable {
	c.left--
	t := v.Type.Strip()
	if t.Kind == value.Reference || t.Kind == value.RvalueReference {
		return c.reference(v, level)
	}
	a := described(v)
	if err := v.Err(); err != nil && !errors.Is(err, value.ErrSynthetic) {
		a.Unreadable = value.Reason(err)
		return a
	}
	p := printer
	p.Elements = c.cfg.MaxStringLen
	if text, ok := p.OfLibrary(v); ok {
		a.Kind, a.Value = reflect.Int, printable.Escape(text)
		c.contents(&a, v, level)
		return a
	}
	switch t.Kind {
	case value.Struct, value.Union:
		if !t.Declared {
			c.structure(&a, v, level)
			return a
		}
	case value.Array:
		if t.IsText() {
			c.text(&a, v)
			return a
		}
		if children := v.Children(); children.Len > 0 || t.Bounds().Known {
			c.array(&a, v, level)
			return a
		}
	case value.Pointer:
		c.pointer(&a, v, t, level)
		return a
	case value.Complex:
		c.complex(&a, v, t)
		return a
	}
	c.scalar(&a, v, t)
	return a
}

// reference converts a reference of C++'s: it is its object, but for the type.
func (c *converter) reference(v *value.Value, level int) api.Variable {
	if err := v.Err(); err != nil && !errors.Is(err, value.ErrSynthetic) {
		a := described(v)
		a.Unreadable = value.Reason(err)
		return a
	}
	to := v.Deref()
	a := described(&to)
	if k := to.Type.Strip().Kind; k != value.Reference && k != value.RvalueReference { // of broken debug information
		a = c.variable(&to, level)
	}
	a.Type, a.RealType = v.Type.String(), v.Type.Strip().String()
	return a
}

func (c *converter) structure(a *api.Variable, v *value.Value, level int) {
	a.Kind = reflect.Struct
	children := v.Children()
	a.Len = int64(children.Len)
	if level > c.cfg.MaxVariableRecurse {
		return
	}
	for i, child := range children.From(0) {
		if c.left <= 0 || c.cfg.MaxStructFields >= 0 && i >= uint64(c.cfg.MaxStructFields) {
			break
		}
		x := c.variable(&child.Value, level+1)
		x.Name = MemberName(&child)
		a.Children = append(a.Children, x)
	}
}

// contents adds what an object of a library contains: as of Go's maps, keys and values alternate,
// without names. Clients print the text of the object. Clients that look at children have these,
// too.
func (c *converter) contents(a *api.Variable, v *value.Value, level int) {
	if level > c.cfg.MaxVariableRecurse {
		return
	}
	contents, ok := printer.Contents(v)
	if !ok {
		return
	}
	most := max(0, c.cfg.MaxArrayValues)
	if contents.Pairs {
		most *= 2
	}
	for child := range contents.Items {
		if len(a.Children) >= most || c.left <= 0 {
			break
		}
		x := api.Variable{Kind: reflect.Int, Value: printable.Escape(child.Text), Addr: nowhere, Flags: api.VariableFakeAddress}
		if child.Value.Type != nil {
			x = c.variable(&child.Value, level+1)
		} else {
			c.left--
		}
		if !contents.Pairs {
			x.Name = MemberName(&child)
		}
		a.Children = append(a.Children, x)
	}
}

// MemberName returns the name by which Delve's clients see a part of a value: a struct's member, an
// array's element.
func MemberName(c *value.Child) string {
	name := printable.Escape(c.Name)
	switch {
	case c.Relation == value.Base:
		return "<" + name + ">"
	case c.Relation == value.Element, c.Relation == value.Item && name != "" && strings.Trim(name, "0123456789") == "":
		return "[" + name + "]"
	case c.Relation == value.Item:
		return name
	case c.Relation == value.StaticMember:
		return "static " + name
	case name != "" || c.Relation == value.Target:
		return name
	case c.Value.Type.Strip().Kind == value.Union:
		return "<anonymous union>"
	default:
		return "<anonymous struct>"
	}
}

func (c *converter) array(a *api.Variable, v *value.Value, level int) {
	children := v.Children()
	a.Kind, a.Len, a.Base = reflect.Array, int64(children.Len), a.Addr
	if level > c.cfg.MaxVariableRecurse {
		return
	}
	for i, child := range children.From(0) {
		if c.left <= 0 || i >= uint64(max(0, c.cfg.MaxArrayValues)) {
			break
		}
		a.Children = append(a.Children, c.variable(&child.Value, level+1))
	}
}

// text converts an array of characters, or a pointer to them.
func (c *converter) text(a *api.Variable, v *value.Value) {
	text, err := v.Characters(max(0, c.cfg.MaxStringLen))
	if err != nil && text.Text == "" {
		a.Unreadable = value.Reason(err)
		return
	}
	a.Kind, a.Value, a.Len, a.Base = reflect.String, text.Text, int64(len(text.Text)+text.More), a.Addr
}

func (c *converter) pointer(a *api.Variable, v *value.Value, t *value.Type, level int) {
	addr, err := v.Uint()
	if err != nil && !errors.Is(err, value.ErrSynthetic) {
		a.Unreadable = value.Reason(err)
		return
	}
	a.Kind = reflect.Ptr
	if err == nil && t.Elem().Strip().Kind == value.Function {
		a.Kind, a.Base = reflect.Func, addr
		if addr != 0 {
			a.Value = printable.Escape(printer.Text(v))
		}
		return
	}
	if err == nil && addr != 0 && t.IsText() {
		if text, failed := v.Characters(max(0, c.cfg.MaxStringLen)); failed == nil || text.Text != "" {
			a.Kind, a.Value, a.Len, a.Base = reflect.String, text.Text, int64(len(text.Text)+text.More), addr
			a.Flags |= api.VariableCPtr
			return
		}
	}
	to := v.Deref()
	child := described(&to)
	child.OnlyAddr = true
	if err == nil {
		child.Addr = addr
		child.Flags &^= api.VariableFakeAddress
	}
	next := level
	if t.Elem().Strip().Kind == value.Pointer {
		next++ // it may point to itself
	}
	if v.Children().Len > 0 && c.cfg.FollowPointers && next <= c.cfg.MaxVariableRecurse+1 && c.left > 0 {
		child = c.variable(&to, next)
	}
	a.Children = []api.Variable{child}
}

// complex converts a complex number: two parts.
func (c *converter) complex(a *api.Variable, v *value.Value, t *value.Type) {
	a.Value = printer.Text(v)
	real, imaginary, ok := strings.Cut(a.Value, " + ")
	if !ok {
		a.Unreadable, a.Value = a.Value, ""
		return
	}
	a.Kind, a.Len = reflect.Complex128, 2
	kind := reflect.Float64
	if t.Size == 8 {
		a.Kind, kind = reflect.Complex64, reflect.Float32
	}
	a.Children = []api.Variable{{Name: "real", Kind: kind, Value: real}, {Name: "imaginary", Kind: kind, Value: strings.TrimSuffix(imaginary, "i")}}
}

// scalar converts a number, or what clients print as if it were one.
func (c *converter) scalar(a *api.Variable, v *value.Value, t *value.Type) {
	if _, err := v.Bytes(); err != nil && !errors.Is(err, value.ErrSynthetic) && !errors.Is(err, value.ErrTooLarge) {
		a.Unreadable = value.Reason(err)
		return
	}
	a.Kind = reflect.Int64
	a.Value = printable.Escape(printer.Text(v))
	number := func() string {
		if n, err := v.Int(); err == nil && t.IsSigned() {
			return strconv.FormatInt(n, 10)
		}
		n, _ := v.Uint()
		return strconv.FormatUint(n, 10)
	}
	switch t.Kind {
	case value.Bool:
		a.Kind = reflect.Bool
	case value.Float:
		if a.Kind = reflect.Float64; t.Size == 4 {
			a.Kind = reflect.Float32
		}
	case value.Enum:
		a.Kind = integerKind(t)
		if n := number(); n != a.Value { // clients take the number from the parentheses
			text := a.Value
			if len(text) > 1 && text[0] == '(' {
				text = text[1 : len(text)-1]
			}
			a.Value = text + " (" + n + ")"
		}
	case value.Char, value.Integer:
		a.Kind = integerKind(t)
		if n := number(); n != a.Value && v.Type.IsCharacter() && len(a.Value) > len(n) {
			a.Value = a.Value[len(n)+1:] + " (" + n + ")"
		}
	}
}

// integerKind returns the kind of Go's integers that has the size of t.
func integerKind(t *value.Type) reflect.Kind {
	kinds := map[uint64]reflect.Kind{1: reflect.Int8, 2: reflect.Int16, 4: reflect.Int32, 8: reflect.Int64, 16: reflect.Int64}
	kind, ok := kinds[t.Size]
	if !ok {
		return reflect.Int64
	}
	if !t.IsSigned() {
		kind += reflect.Uint8 - reflect.Int8
	}
	return kind
}
