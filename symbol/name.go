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

// demangleFunction makes a linkage name from DWARF readable as GDB prints a
// function: without its parameters and return type.
func demangleFunction(name string) string {
	return demangleName(name, demangle.NoParams)
}

func demangleName(name string, opts ...demangle.Option) string {
	if len(name) > maxMangled || len(name) < 3 || name[0] != '_' {
		return name
	}
	return demangle.Filter(name, append(opts, maxDemangled)...)
}
