package symbol

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled bounds the names that are demangled; longer ones are shown as they
// are. Template-heavy C++ stays well below.
const maxMangled = 1 << 16

// demangled names are at most 2^18 bytes long: mangling compresses.
var maxDemangled = demangle.MaxLength(18)

// demangleSymbol makes a symbol's name readable as GDB prints one that it has
// from a symbol table: with its parameters, and std::string written out.
func demangleSymbol(name string) string {
	name, _, _ = strings.Cut(name, "@@") // the default version
	return demangleName(name, demangle.Verbose)
}

// demangleFunction makes a linkage name from DWARF readable as GDB's backtrace prints a function:
// without its return type, and without its parameters but where [keepsParameters] says otherwise.
func demangleFunction(name string) string {
	bare := func() string { return demangleName(name, demangle.NoParams) }
	if len(name) > maxMangled || !strings.HasPrefix(name, "_Z") {
		return bare()
	}
	ast, err := demangle.ToAST(name)
	if err != nil {
		return bare()
	}
	typed, ok := ast.(*demangle.Typed)
	if ok {
		of := typed.Type
		if method, ok := of.(*demangle.MethodWithQualifiers); ok {
			of = method.Method
		}
		if f, ok := of.(*demangle.FunctionType); ok {
			f.Return = nil
		}
	}
	if full := demangle.ASTToString(ast, maxDemangled); keepsParameters(full) {
		return full
	}
	if !ok {
		return bare()
	}
	return demangle.ASTToString(typed.Name, maxDemangled)
}

func demangleName(name string, opts ...demangle.Option) string {
	if len(name) > maxMangled || len(name) < 3 || name[0] != '_' {
		return name
	}
	return demangle.Filter(name, append(opts, maxDemangled)...)
}
