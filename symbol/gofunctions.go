package symbol

import (
	"errors"
	"strings"

	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/internal/goruntime"
)

// readGo opens Go's function table, if the module has one.
func (mod *elfModule) readGo() {
	t, _, err := goruntime.Table(mod.m)
	if err != nil && !errors.Is(err, goruntime.ErrNotGo) {
		mod.warn("%s: %w", mod.m.Path, err)
	}
	mod.goTable = t
}

// goFunction finds the Go function at an address of the file in the table that the Go
// linker writes. known is false if the table has no more than a name: for C code that
// is linked between Go's, and in the padding behind functions. For padding, ok is false, too.
func (mod *elfModule) goFunction(addr uint64) (f gopclntab.Func, known, ok bool) {
	mod.goRead.Do(mod.readGo)
	if mod.goTable == nil {
		return f, false, false
	}
	if f, ok = mod.goTable.Find(addr); !ok {
		return f, false, false
	}
	if _, _, _, known = f.SPDelta(addr); !known {
		if _, _, known = f.Line(addr); !known {
			_, _, _, code := f.SPDelta(f.Lo)
			ok = !code
		}
	}
	return f, known, ok
}

// goChain is Symbolizer.Locate by Go's function table, for an address of the file that is in f.
func (mod *elfModule) goChain(f gopclntab.Func, addr uint64) (chain []Location) {
	if mod.s.opts.SymbolsOnly {
		return []Location{{
			Function: f.Name(), Start: f.Lo + mod.bias, End: f.Hi + mod.bias, Offset: addr - f.Lo,
		}}
	}
	calls := f.Inlined(addr)
	chain = make([]Location, len(calls))
	for i, c := range calls {
		chain[i] = Location{
			Function: c.Function,
			Start:    c.Lo + mod.bias, Offset: addr - c.Lo, Entry: c.Entry + mod.bias,
			File: goFile(c.File), Line: c.Line,
			Inline: i < len(calls)-1,
		}
	}
	chain[len(chain)-1].End = f.Hi + mod.bias
	return chain
}

// goFile spells the name of a file as DWARF does. Generated code has a name without a folder. Its
// folder is the compiler's, ".".
func goFile(name string) string {
	if name == "" || strings.Contains(name, "/") {
		return name
	}
	return "./" + name
}
