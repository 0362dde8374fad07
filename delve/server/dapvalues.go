//go:build linux && (amd64 || arm64)

package server

import (
	"strings"

	"github.com/go-delve/delve/service/api"
	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/value"
)

// ownValues are the variables of an [ownFrame] of a function that is not Go's.
type ownValues struct{ scope api.EvalScope }

// ownValue is a value that the client may expand: an expression's in such a frame, or a part of it.
type ownValue struct {
	scope      api.EvalScope
	expression string
	variable   int      // the number of a variable, arguments first; -1 for an expression
	path       []uint64 // the numbers of the parts that lead to the value

	name   string
	again  string // an expression of C for the value; "" if there is none
	value  value.Value
	reader *value.Reader // with which the value was read
}

// current returns the value. It reads it anew if the process may have changed.
func (o *ownValue) current(t *delve.Target, x *delve.Frame) (value.Value, error) {
	if o.reader == t.Values() {
		return o.value, nil
	}
	v, err := x.Evaluate(o.expression)
	if o.variable >= 0 {
		of, failed := x.Values()
		if failed != nil {
			return v, failed
		}
		list := append(of.Arguments, of.Locals...)
		if o.variable >= len(list) || list[o.variable].Name != o.expression {
			return v, errStale
		}
		v, err = list[o.variable].Value(), nil
	}
	for _, i := range o.path {
		if err != nil {
			break
		}
		of := expanded(&v)
		part, ok := of.at(i)
		if !ok || part.Value.Type == nil {
			return v, errStale
		}
		v = part.Value
	}
	o.value, o.reader = v, t.Values()
	return v, err
}

var printer = value.Printer{UTF8: true}

// text writes a value in one line.
func (f *filter) text(v *value.Value) string {
	p := printer
	if v.Type.IsText() {
		p.Elements = f.load().MaxStringLen
		return printable.Escape(p.Text(v))
	}
	return printable.Escape(p.Summary(v))
}

// shows returns what an editor shows of a value.
func (f *filter) shows(t *delve.Target, o ownValue) dap.Variable {
	x := dap.Variable{Name: o.name, Value: f.text(&o.value)}
	if f.wants().Types {
		x.Type = printable.Escape(o.value.Type.String())
	}
	x.EvaluateName = o.again
	of := expanded(&o.value)
	switch first, ok := of.at(0); {
	case !ok:
		return x
	case first.Relation == value.Element:
		x.IndexedVariables = int(min(of.fixed.Len, 1<<31-1))
	case first.Relation != value.Item:
		x.NamedVariables = int(of.fixed.Len)
	}
	o.reader = t.Values()
	x.VariablesReference = f.owned.add(&o)
	return x
}

// foreignLocals returns the scope of the variables of a function that is not Go's.
func (f *filter) foreignLocals(of api.EvalScope, x *delve.Frame) (name string, vars any, err error) {
	if _, err := x.Values(); err != nil {
		return "Locals: " + err.Error(), ownVariables{scope: of}, nil
	}
	return "Locals", ownValues{of}, nil
}

// list lists the variables of a frame.
func (o ownValues) list(f *filter, t *delve.Target, x *delve.Frame) (list []dap.Variable, err error) {
	of, err := x.Values()
	if err != nil {
		return nil, err
	}
	all := append(of.Arguments, of.Locals...)
	inner := make(map[string]int) // the variable that a name means
	for i := range all {
		if first, ok := inner[all[i].Name]; !ok || all[first].Argument {
			inner[all[i].Name] = i
		}
	}
	for i := range all {
		name := printable.Escape(all[i].Name)
		v := ownValue{scope: o.scope, expression: all[i].Name, variable: i, name: name, again: all[i].Name, value: all[i].Value()}
		if inner[all[i].Name] != i {
			v.name, v.again = "("+name+")", ""
		}
		list = append(list, f.shows(t, v))
	}
	return list, nil
}

// part returns an expression of C for a part of the value v; "" if there is none.
func (o *ownValue) part(v *value.Value, part *value.Child) string {
	of := o.again
	if of == "" {
		return ""
	}
	if strings.HasPrefix(of, "*") {
		of = "(" + of + ")"
	}
	switch part.Relation {
	case value.Target:
		return "*" + of
	case value.Element:
		return of + "[" + part.Name + "]"
	case value.Member, value.StaticMember:
		switch {
		case part.Name == "":
			return o.again // C names the members of one that has no name as if they were of the struct around it
		case v.Type.Strip().Kind == value.Pointer:
			return of + "->" + part.Name
		}
		return of + "." + part.Name
	}
	return ""
}

// maxParts is how many parts of a value a client gets at once.
const maxParts = 1 << 12

// list lists parts of the value: all parts, or the ones that the client asks for.
func (o *ownValue) list(f *filter, t *delve.Target, x *delve.Frame, which dap.VariablesArguments) (list []dap.Variable, err error) {
	v, err := o.current(t, x)
	if err != nil {
		return nil, err
	}
	count := uint64(maxParts)
	if which.Count > 0 {
		count = min(count, uint64(which.Count))
	}
	parts := expanded(&v)
	for i, part := range parts.from(uint64(max(0, which.Start))) {
		indexed := part.Relation == value.Element
		if uint64(len(list)) >= count || which.Filter == "indexed" && !indexed || which.Filter == "named" && indexed {
			break
		}
		if part.Value.Type == nil {
			list = append(list, dap.Variable{Name: delve.MemberName(&part), Value: printable.Escape(part.Text)})
			continue
		}
		of := ownValue{scope: o.scope, expression: o.expression, variable: o.variable, value: part.Value}
		of.path = append(append(of.path, o.path...), i)
		of.name, of.again = delve.MemberName(&part), o.part(&v, &part)
		if part.Relation == value.Target {
			of.name = "*" + o.name
		}
		list = append(list, f.shows(t, of))
	}
	return list, nil
}

// values answers a request for variables that are not Go's.
func (f *filter) values(reply []byte, seq int, scope api.EvalScope, of func(*delve.Target, *delve.Frame) ([]dap.Variable, error)) error {
	list := []dap.Variable{}
	err := f.server.stacks.frame(scope, func(t *delve.Target, x *delve.Frame) error {
		more, err := of(t, x)
		list = append(list, more...)
		return err
	})
	if err == nil {
		f.respond(reply, "variables", seq, dap.VariablesResponseBody{Variables: list})
	}
	return err
}

// evaluated returns the value of an expression in a frame that is not Go's.
func (f *filter) evaluated(scope api.EvalScope, t *delve.Target, x *delve.Frame, expression string) (body dap.EvaluateResponseBody, err error) {
	v, err := x.Evaluate(expression)
	if err != nil {
		return body, err
	}
	got := f.shows(t, ownValue{scope: scope, expression: expression, variable: -1, name: printable.Escape(expression), again: "(" + expression + ")", value: v})
	return dap.EvaluateResponseBody{
		Result: got.Value, Type: got.Type, VariablesReference: got.VariablesReference,
		NamedVariables: got.NamedVariables, IndexedVariables: got.IndexedVariables,
	}, nil
}
