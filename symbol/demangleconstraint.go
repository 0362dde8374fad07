package symbol

import (
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// withoutConstraint takes off the constraint at the end of a template's or a method's name. The
// constraint does not tell where the code is, and the demangler leaves its parameters as T, T0 and
// so on. The types of the function may refer to types that the constraint mentions first. In those,
// withoutConstraint replaces the parameters by the template's arguments.
func withoutConstraint(ast demangle.AST) demangle.AST {
	if clone, ok := ast.(*demangle.Clone); ok {
		clone.Base = withoutConstraint(clone.Base)
		return clone
	}
	c, ok := ast.(*demangle.Constraint)
	for ; ok; c, ok = ast.(*demangle.Constraint) {
		if ast = c.Name; c.ForTemplateArgs {
			substitute(c.Requires, templateOf(ast))
		}
	}
	return ast
}

// templateOf returns the template that a function is an instance of, nil if there is none.
func templateOf(ast demangle.AST) *demangle.Template {
	if c, ok := ast.(*demangle.Constraint); ok {
		return templateOf(c.Name)
	}
	if typed, ok := ast.(*demangle.Typed); ok {
		ast = typed.Name
	}
	of, _ := ast.(*demangle.Template)
	return of
}

// maxParameters bounds the nodes of a constraint that are looked at. Parts of a mangled name may
// refer to other parts, so that the whole can be much larger than the name.
const maxParameters = 1 << 6

// substitute replaces the parameters of a constraint by the arguments of a template.
func substitute(constraint demangle.AST, of *demangle.Template) {
	if of == nil {
		return
	}
	left := maxParameters
	constraint.Traverse(func(x demangle.AST) bool {
		if name, ok := x.(*demangle.Name); ok {
			if i := parameter(name.Name); i >= 0 && i < len(of.Args) {
				name.Name = demangle.ASTToString(of.Args[i], maxDemangled)
			}
		}
		left--
		return left > 0
	})
}

// parameter returns the number of the template parameter that name stands for, in the demangler's
// form for a parameter without an argument; -1 if name is none.
func parameter(name string) int {
	digits, ok := strings.CutPrefix(name, "T")
	switch n, err := strconv.ParseUint(digits, 10, 16); {
	case !ok || digits != "" && err != nil:
		return -1
	case digits == "":
		return 0
	default:
		return int(n) + 1
	}
}
