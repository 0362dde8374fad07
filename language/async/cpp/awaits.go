package cpp

import (
	"debug/dwarf"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
)

// mostEntries bounds the debug information of a function that is looked through for where it waits.
const mostEntries = 1 << 15

// awaitsOf returns the lines of a coroutine at which it may wait: there the functions of awaiters
// are called, or inlined. It is empty where debug information has neither, as without optimisation.
func (r *program) awaitsOf(c *coroutine) map[point]bool {
	l := r.layoutOf(c)
	if l.awaits != nil {
		return l.awaits
	}
	l.awaits = map[point]bool{}
	opens := r.opens(c)
	left := mostEntries
	for _, s := range [...]span{c.resume, c.begin} {
		if s.lo >= s.hi {
			continue
		}
		scopes, bias, err := r.symbols.Scopes(r.modules, s.lo)
		if err != nil || len(scopes) == 0 {
			continue
		}
		r.awaitsIn(scopes[0].Entry, bias, &left, func(p point) {
			if p.line > opens.line && (l.closes == 0 || p.line < l.closes) {
				l.awaits[point{opens.file, p.line}] = true
			}
		})
	}
	return l.awaits
}

// awaitsIn finds the calls of awaiters' functions that are directly in a function, or in its
// blocks.
func (r *program) awaitsIn(e *symbol.Entry, bias uint64, left *int, yield func(point)) {
	kids, err := e.Children()
	if err != nil {
		return
	}
	for _, k := range kids {
		if *left--; *left < 0 {
			return
		}
		switch k.Tag {
		case dwarf.TagLexDwarfBlock:
			r.awaitsIn(k, bias, left, yield)
		case dwarf.TagInlinedSubroutine:
			if line, ok := k.Constant(dwarf.AttrCallLine); ok && r.isAwaiters(k.Reference(dwarf.AttrAbstractOrigin)) {
				yield(point{line: int(line)})
			}
		case dwarf.TagCallSite, 0x4109: // and what GCC had before (DW_TAG_GNU_call_site)
			ret, ok := k.Address(dwarf.AttrCallReturnPC)
			if !ok {
				ret, ok = k.Address(dwarf.AttrLowpc)
			}
			origin := k.Reference(dwarf.AttrCallOrigin)
			if origin.IsZero() {
				origin = k.Reference(dwarf.AttrAbstractOrigin)
			}
			if ok && r.isAwaiters(origin) {
				yield(r.lineAt(ret + bias - 1))
			}
		}
	}
}

// isAwaiters reports whether a function is one that coroutines call to wait.
func (r *program) isAwaiters(ref symbol.Ref) bool {
	const most = 4
	for range most {
		if ref.IsZero() {
			return false
		}
		e, err := r.symbols.Entry(ref)
		if err != nil {
			return false
		}
		if name := e.Text(dwarf.AttrName); name != "" {
			return strings.HasPrefix(name, "await_")
		}
		if ref = e.Reference(dwarf.AttrAbstractOrigin); ref.IsZero() {
			ref = e.Reference(dwarf.AttrSpecification)
		}
	}
	return false
}
