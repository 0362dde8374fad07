package symbol

import (
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// withoutConstraint takes off the constraint that a template's or a method's name ends in, which
// says nothing of where the code is, and whose parameters the demangler leaves as T, T0 and so
// on. The types of the function may refer to those of a template's constraint, where they come
// first: there they get the template's arguments.
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

// templateOf returns the template that a function is of, nil if it is of none.
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

// maxParameters bounds how much of a constraint is looked at: what a mangled name refers to can
// be shared, and much larger than the name.
const maxParameters = 1 << 6

// substitute gives the parameters of a constraint the names of a template's arguments.
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

// parameter returns the number of a template's parameter that the demangler has no argument for,
// -1 where the name is no such parameter's.
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
