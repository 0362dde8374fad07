//go:build linux && (amd64 || arm64)

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"
	delvedap "github.com/go-delve/delve/service/dap"
	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/delve"
)

// ownBase is the first number for frames and variables that Delve does not have. Delve
// counts from 1000 up, anew at each stop; numbers must stay below 1<<31.
const ownBase = 1 << 30

// owned holds the frames and variables that clients know by such numbers, until the process runs
// on.
type owned struct {
	next int
	refs map[int]any // ownFrame, ownVariables, ownValues, *ownValue or api.Registers
}

// ownFrame is a frame that Delve's own stack lacks.
type ownFrame struct {
	scope  api.EvalScope
	failed string // why the stack ends there instead; "" for a frame
}

// ownVariables are the variables of an ownFrame.
type ownVariables struct {
	scope api.EvalScope
	list  []variable
}

// variable is a variable's value at the last stop.
type variable struct {
	name, text, typ string
	shadowed        bool   // by another variable of its name
	address         string // an expression for it, valid in all frames; "" if it is not in memory
}

func newVariable(v *proc.Variable) variable {
	x := variable{name: v.Name, text: api.ConvertVar(v).SinglelineString(), typ: v.TypeString(), shadowed: v.Flags&proc.VariableShadowed != 0}
	if v.Addr != 0 && v.DwarfType != nil && v.Unreadable == nil && v.Flags&(proc.VariableFakeAddress|proc.VariableCPURegister|proc.VariableConstant) == 0 {
		x.address = fmt.Sprintf("*(*%q)(%#x)", api.PrettyTypeName(v.DwarfType), v.Addr)
	}
	return x
}

// add registers of, and returns its new number.
func (o *owned) add(of any) int {
	if o.refs == nil {
		o.refs = map[int]any{}
	}
	if o.next == 1<<31-1 {
		o.next = ownBase
	}
	n := o.next
	o.next++
	o.refs[n] = of
	return n
}

// reset forgets all numbers. They are not used again, so that a late client gets an error.
func (o *owned) reset() { o.refs = nil }

// errStale says that a number is unknown, or older than the last stop.
var errStale = errors.New("it is of before the process has run, or of nothing")

// errCall is Delve's error for a call in another frame than the innermost.
var errCall = errors.New("call is only supported with topmost stack frame")

// about returns the handler of a request about one of our frames or variables; nil if the request
// is about Delve's.
func (f *filter) about(m *message) func(reply []byte) bool {
	var args struct {
		FrameID   int    `json:"frameId"`
		Reference int    `json:"variablesReference"`
		Name      string `json:"name"`
		Value     string `json:"value"`
		dap.EvaluateArguments
		Filter string `json:"filter"`
		Start  int    `json:"start"`
		Count  int    `json:"count"`
	}
	if json.Unmarshal(m.Arguments, &args) != nil {
		return nil
	}
	var answer func(reply []byte, of any) error
	number, id, summary := args.FrameID, delvedap.UnableToListLocals, "Unable to list locals"
	seq := m.Seq
	switch m.Command {
	case "scopes":
		answer = func(reply []byte, of any) error { return f.scopes(reply, seq, of) }
	case "evaluate":
		id, summary = delvedap.UnableToEvaluateExpression, "Unable to evaluate expression"
		answer = func(reply []byte, of any) error { return f.expression(reply, seq, of, args.EvaluateArguments) }
		switch m := toDelve.FindStringSubmatch(args.Expression); {
		case m == nil:
		case m[1] == "dlv":
			return nil // not about a frame
		default:
			answer = func(reply []byte, of any) error { return f.callIn(reply, seq, of, m[2]) }
		}
	case "dataBreakpointInfo":
		number = max(args.FrameID, args.Reference)
		id, summary = delvedap.UnableToGetDataBreakpointInfo, "Could not get data breakpoint info"
		answer = func([]byte, any) error { return errNotTheirs }
	case "variables":
		number, id, summary = args.Reference, delvedap.UnableToLookupVariable, "Unable to lookup variable"
		which := dap.VariablesArguments{Filter: args.Filter, Start: args.Start, Count: args.Count}
		answer = func(reply []byte, of any) error { return f.variables(reply, seq, of, which) }
	case "setVariable":
		number, id, summary = args.Reference, delvedap.UnableToSetVariable, "Unable to set variable"
		answer = func(reply []byte, of any) error { return f.setVariable(reply, seq, of, args.Name, args.Value) }
	}
	if number < ownBase {
		return nil
	}
	return func(reply []byte) bool {
		if reply == nil {
			return false
		}
		err := error(errRuns)
		if !runs(reply) {
			err = errStale
			if of, ok := f.owned.refs[number]; ok {
				err = answer(reply, of)
			}
		}
		if err != nil {
			f.refuse(reply, m.Command, seq, id, summary, err)
		}
		return true
	}
}

// scopes lists the scopes of a frame: its locals, and its registers.
func (f *filter) scopes(reply []byte, seq int, of any) error {
	frame, ok := of.(ownFrame)
	if !ok {
		return errStale
	}
	if frame.failed != "" {
		return errors.New(frame.failed)
	}
	list := []dap.Scope{}
	err := f.server.stacks.frame(frame.scope, func(t *delve.Target, x *delve.Frame) error {
		locals := f.goLocals
		switch {
		case x.Language != nil:
			locals = f.languageLocals
		case x.IsForeign():
			locals = f.foreignLocals
		}
		name, vars, err := locals(frame.scope, x)
		if err != nil {
			return err
		}
		list = append(list, dap.Scope{Name: name, VariablesReference: f.owned.add(vars)})
		if f.wants().Registers {
			list = append(list, dap.Scope{Name: "Registers", VariablesReference: f.owned.add(registers(t, x))})
		}
		return nil
	})
	if err == nil {
		f.respond(reply, "scopes", seq, dap.ScopesResponseBody{Scopes: list})
	}
	return err
}

// languageLocals returns the scope of the variables of a frame of a language.
func (f *filter) languageLocals(of api.EvalScope, x *delve.Frame) (name string, vars any, err error) {
	list := ownVariables{scope: of}
	arguments, locals, err := x.Variables(f.load())
	if err != nil {
		return "Locals: " + err.Error(), list, nil
	}
	for _, v := range append(arguments, locals...) {
		list.list = append(list.list, variable{name: v.Name, text: v.Value, typ: v.Type})
	}
	return "Locals", list, nil
}

// goLocals returns the scope of a Go function's variables.
func (f *filter) goLocals(of api.EvalScope, x *delve.Frame) (name string, vars any, err error) {
	list := ownVariables{scope: of}
	scope, err := x.Scope()
	if err != nil {
		return "Locals: " + err.Error(), list, nil
	}
	name = "Locals"
	if scope.Fn.Optimized() {
		name += " (warning: optimized function)"
	}
	args, err := scope.FunctionArguments(f.load())
	if err != nil {
		return name, nil, err
	}
	locals, err := scope.LocalVariables(f.load())
	for _, v := range append(args, locals...) {
		list.list = append(list.list, newVariable(v))
	}
	return name, list, err
}

// load returns the bounds on reading a variable, as Delve has them for DAP.
func (f *filter) load() proc.LoadConfig {
	cfg := delvedap.DefaultLoadConfig
	wants := f.wants()
	if n := wants.Strings; n > 0 {
		cfg.MaxStringLen = n
	}
	if n := wants.Elements; n > 0 {
		cfg.MaxArrayValues = n
	}
	return cfg
}

// variables lists variables. It asks Delve for each by its address, so that Delve can show the
// parts of it.
func (f *filter) variables(reply []byte, seq int, of any, which dap.VariablesArguments) error {
	switch of := of.(type) {
	case ownValues:
		return f.values(reply, seq, of.scope, func(t *delve.Target, x *delve.Frame) ([]dap.Variable, error) { return of.list(f, t, x) })
	case *ownValue:
		return f.values(reply, seq, of.scope, func(t *delve.Target, x *delve.Frame) ([]dap.Variable, error) { return of.list(f, t, x, which) })
	}
	list := []dap.Variable{}
	if regs, ok := of.(api.Registers); ok {
		for _, r := range regs {
			list = append(list, dap.Variable{Name: fmt.Sprintf("%6s", strings.ToLower(r.Name)), Value: r.Value})
		}
	}
	vars, _ := of.(ownVariables)
	waiting := 1
	done := func() {
		if waiting--; waiting == 0 {
			f.respond(reply, "variables", seq, dap.VariablesResponseBody{Variables: list})
		}
	}
	for i, v := range vars.list {
		list = append(list, dap.Variable{Name: v.name, EvaluateName: v.name, Value: v.text})
		if v.shadowed {
			list[i].Name, list[i].EvaluateName = "("+v.name+")", ""
		}
		if f.wants().Types {
			list[i].Type = v.typ
		}
		if v.address == "" {
			continue
		}
		waiting++
		err := f.own("evaluate", dap.EvaluateArguments{Expression: v.address}, func(reply []byte) bool {
			var r dap.EvaluateResponse
			if json.Unmarshal(reply, &r) == nil && r.Success {
				x := &list[i]
				x.Value, x.VariablesReference, x.NamedVariables, x.IndexedVariables = r.Body.Result, r.Body.VariablesReference, r.Body.NamedVariables, r.Body.IndexedVariables
			}
			if reply != nil {
				done()
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	done()
	return nil
}

// expression evaluates an expression in a frame. If the value is in memory, Delve shows it.
func (f *filter) expression(reply []byte, seq int, of any, args dap.EvaluateArguments) error {
	frame, ok := of.(ownFrame)
	if !ok {
		return errStale
	}
	var body dap.EvaluateResponseBody
	var v variable
	var unreadable error
	foreign := false
	err := f.server.stacks.frame(frame.scope, func(t *delve.Target, x *delve.Frame) (err error) {
		if x.Language != nil {
			of, failed := x.VariableOfLanguage(args.Expression)
			if failed == nil {
				v = variable{name: of.Name, text: of.Value, typ: of.Type}
				return nil
			}
			err = failed
		}
		if x.IsForeign() {
			if body, err = f.evaluated(frame.scope, t, x, args.Expression); err == nil {
				foreign = true
				return nil
			}
		}
		of, err := evalGo(t, x, args.Expression, f.load(), err)
		if err == nil {
			v, unreadable = newVariable(of), of.Unreadable
		}
		return err
	})
	if err == nil {
		err = unreadable
	}
	if err != nil {
		return err
	}
	if foreign {
		f.respond(reply, "evaluate", seq, body)
		return nil
	}
	body.Result = v.text
	if f.wants().Types {
		body.Type = v.typ
	}
	if v.address == "" {
		f.respond(reply, "evaluate", seq, body)
		return nil
	}
	return f.own("evaluate", dap.EvaluateArguments{Expression: v.address, Context: args.Context}, func(own []byte) bool {
		var r dap.EvaluateResponse
		if json.Unmarshal(own, &r) == nil && r.Success {
			body = r.Body
		}
		if own != nil {
			f.respond(reply, "evaluate", seq, body)
		}
		return true
	})
}

// setVariable sets a variable of a frame, or a part of a value.
func (f *filter) setVariable(reply []byte, seq int, of any, name, value string) error {
	var in api.EvalScope
	object := name
	switch of := of.(type) {
	case ownVariables:
		in = of.scope
	case ownValues:
		in = of.scope
	case *ownValue:
		in = of.scope
		var err error
		if object, err = f.expressionOf(of, name); err != nil {
			return err
		}
	default:
		return errors.New("it is no variable")
	}
	if strings.HasPrefix(object, "(") && object == name {
		return fmt.Errorf("%s is hidden by another of its name", name)
	}
	defer f.server.stacks.change()()
	err := f.server.stacks.set(in, object, value)
	if err != nil {
		return err
	}
	body := dap.SetVariableResponseBody{Value: value}
	f.server.stacks.frame(in, func(t *delve.Target, x *delve.Frame) error {
		if x.IsForeign() {
			if now, err := f.evaluated(in, t, x, object); err == nil {
				body = dap.SetVariableResponseBody{Value: now.Result, Type: now.Type, VariablesReference: now.VariablesReference,
					NamedVariables: now.NamedVariables, IndexedVariables: now.IndexedVariables}
			}
		}
		return nil
	})
	f.respond(reply, "setVariable", seq, body)
	return nil
}

// expressionOf returns the expression of C for the part of a value that is shown with a name.
func (f *filter) expressionOf(of *ownValue, name string) (expression string, err error) {
	err = f.server.stacks.frame(of.scope, func(t *delve.Target, x *delve.Frame) error {
		for start := 0; ; start += maxParts {
			list, err := of.list(f, t, x, dap.VariablesArguments{Start: start})
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(list, func(v dap.Variable) bool { return v.Name == name }); i >= 0 {
				expression = list[i].EvaluateName
			} else if len(list) == maxParts && start < 64*maxParts {
				continue
			}
			return nil
		}
	})
	if err == nil && expression == "" {
		err = fmt.Errorf("%s has no part %s that can be set", of.name, name)
	}
	return expression, err
}
