package symbol

import (
	"strings"
	"sync/atomic"

	"github.com/ianlancetaylor/demangle"
)

// Demangle returns the readable form of a symbol's name, without parameters. If that would take too
// long, it returns name itself.
func Demangle(name string) string { return demangleName(name, demangle.NoParams) }

// demangleSymbol returns the readable form of a name as GDB prints it from a symbol table: with its
// parameters, and std::string written out.
func demangleSymbol(name string) string {
	name, version, versioned := strings.Cut(name, "@")
	if name = demangleName(name, demangle.Verbose); versioned && version != "" && version[0] != '@' { // that is the default version
		name += "@" + version
	}
	return name
}

// demangleFunction returns the readable form of a linkage name from DWARF as GDB's backtrace prints
// a function: without its return type, and without its parameters unless [keepsParameters] says so.
func demangleFunction(name string) string {
	return affordably(name, func() string { return demangleLinkage(name) })
}

func demangleLinkage(name string) string {
	bare := func() string { return filter(name, demangle.NoParams) }
	if !strings.HasPrefix(name, "_Z") || plainLinkage(name) {
		return bare()
	}
	return demangleWhole(name, bare)
}

// demangleWhole reads the parameters of a name, too, to see whether they are shown.
func demangleWhole(name string, bare func() string) string {
	ast, err := parse(name)
	if err != nil {
		return bare()
	}
	typed := withoutResult(ast)
	_, copied := ast.(*demangle.Clone) // GDB cannot parse "f(int) [clone .isra.0]"
	if full := demangle.ASTToString(ast, maxDemangled); copied || keepsParameters(full) {
		return full
	}
	if typed == nil {
		return bare()
	}
	return demangle.ASTToString(typed.Name, maxDemangled)
}

// DemangleFunction returns the readable form of a function's linkage name with its parameters, and,
// like GDB where there is debug information, without the type of its result.
func DemangleFunction(linkage string) string {
	return affordably(linkage, func() string {
		ast, err := parse(linkage)
		if err != nil {
			return filter(linkage)
		}
		withoutResult(ast)
		return demangle.ASTToString(ast, maxDemangled)
	})
}

// parse parses a name, and leaves out what GDB does not show of it.
func parse(name string, opts ...demangle.Option) (demangle.AST, error) {
	ast, err := demangle.ToAST(name, opts...)
	if err != nil {
		return nil, err
	}
	if ast = withoutConstraint(ast); strings.Contains(name, "CI") {
		ast.Traverse(inheritedName)
	}
	return ast, nil
}

// withoutResult removes the type of a function's result, and returns the function; nil if it has no
// parameters.
func withoutResult(ast demangle.AST) *demangle.Typed {
	for clone, ok := ast.(*demangle.Clone); ok; clone, ok = ast.(*demangle.Clone) { // with optimization at link time
		ast = clone.Base
	}
	typed, ok := ast.(*demangle.Typed)
	if !ok {
		return nil
	}
	of := typed.Type
	if method, ok := of.(*demangle.MethodWithQualifiers); ok {
		of = method.Method
	}
	if f, ok := of.(*demangle.FunctionType); ok {
		f.Return = nil
	}
	return typed
}

func demangleName(name string, opts ...demangle.Option) string {
	return affordably(name, func() string { return filter(name, opts...) })
}

func filter(name string, opts ...demangle.Option) string {
	if len(name) < 3 || name[0] != '_' {
		return name
	}
	opts = append(opts, maxDemangled)
	if strings.Contains(name, "Q") || strings.Contains(name, "CI") {
		if ast, err := parse(name, opts...); err == nil {
			return demangle.ASTToString(ast, opts...)
		}
	}
	if readable := legacyRust(name, opts...); readable != "" {
		return readable
	}
	if readable := demangle.Filter(name, opts...); readable != "" {
		return readable
	}
	return name // a mangled name that names nothing
}

// Demangler makes names of C++ readable, with their parameters, as c++filt does. It is for programs
// that read all names of a file: [Demangle] bounds the time that the names of a process may take, a
// Demangler only the time of names which take much. It is safe for concurrent use.
type Demangler struct{ left atomic.Int64 }

// NewDemangler returns a Demangler. Names that take more time than a usual name take at most steps,
// all together: a step is about a microsecond. Further names of this kind are left as they are.
func NewDemangler(steps int64) *Demangler {
	d := new(Demangler)
	d.left.Store(steps)
	return d
}

// Name returns the readable form of a mangled name; name itself if it is not one of C++, or takes
// too long.
func (d *Demangler) Name(name string) string {
	if len(name) > maxMangled || !strings.HasPrefix(name, "_Z") {
		return name
	}
	steps := stepsOf(name)
	if steps > maxSteps || steps > cheap && d.left.Add(-int64(steps)) < 0 {
		return name
	}
	return unbroken(name, func() string { return whole(name) })
}

// whole returns the readable form of a name with all that it says.
func whole(name string) string {
	if strings.Contains(name, "CI") {
		if ast, err := demangle.ToAST(name, demangle.NoRust, maxDemangled); err == nil {
			ast.Traverse(inheritedName)
			return strings.ReplaceAll(demangle.ASTToString(ast, maxDemangled), ", >", ">")
		}
	}
	if readable := demangle.Filter(name, demangle.NoRust, maxDemangled); readable != "" {
		return strings.ReplaceAll(readable, ", >", ">") // a pack without arguments is the last
	}
	return name
}

// inheritedName gives a constructor that a class inherits the name of the base class, as GDB and
// c++filt do.
func inheritedName(x demangle.AST) bool {
	c, ok := x.(*demangle.Constructor)
	if !ok || c.Base == nil {
		return true
	}
	base := c.Base
	for range 8 {
		switch b := base.(type) {
		case *demangle.Qualified:
			base = b.Name
		case *demangle.Template:
			base = b.Name
		case *demangle.Name:
			c.Name = b
			return true
		}
	}
	return true
}
