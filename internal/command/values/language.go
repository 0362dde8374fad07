package values

import "github.com/sfwalk/sfwalk/language"

// OfLanguage returns what is shown of the values in a frame of a language: arguments and local
// variables, as the language writes them.
func (v *Flags) OfLanguage(f *language.Frame, json bool) (x Shown) {
	if !v.args && !v.locals || f.Args == nil && f.Locals == nil {
		return Shown{}
	}
	mark := ""
	if f.MovedOn {
		mark = movedOn
	}
	x.HasArguments = true
	for i, a := range f.Args {
		if i > 0 {
			x.Arguments = append(x.Arguments, ", "...)
		}
		x.Arguments = append(x.Arguments, a.Name+"="+a.Value...)
	}
	x.Arguments = append(x.Arguments, mark...)
	if json {
		x.Args = ofLanguage(f.Args, f.MovedOn)
	}
	if !v.locals {
		return x
	}
	x.HasLocals = true
	if json {
		x.Locals = ofLanguage(f.Locals, f.MovedOn)
		return x
	}
	for _, l := range f.Locals {
		x.LocalLines = append(x.LocalLines, line{Text: []byte(l.Name + " = " + l.Value + mark)})
	}
	return x
}

func ofLanguage(list []language.Variable, moved bool) (variables []Variable) {
	for _, l := range list {
		variables = append(variables, Variable{Name: l.Name, Type: l.Type, Value: l.Value, MovedOn: moved})
	}
	return variables
}
