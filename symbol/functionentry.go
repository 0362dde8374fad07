package symbol

import (
	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/target"
)

// FunctionEntry is where DWARF describes a function: the file, and the offsets in its .debug_info of the
// function's entry and of its unit's.
type FunctionEntry struct {
	Image        *elfimage.Image // must not be used after [Symbolizer.Close]
	Offset, Unit uint64
}

// FunctionEntry returns where DWARF describes the function that has the code at pc. ok is false if it does not, or
// in a file of its own (.dwo).
func (s *Symbolizer) FunctionEntry(modules *target.Modules, pc uint64) (e FunctionEntry, ok bool) {
	m := modules.Find(pc)
	if m == nil {
		return e, false
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return e, false
	}
	x := mod.dwarf()
	if x == nil {
		return e, false
	}
	e.Image = x.from
	x.ask(func(d *debugInfo) { e.Offset, e.Unit, ok = d.entryOf(pc - mod.bias) })
	return e, ok
}

// entryOf returns the offsets of the entry of the function at a link-time address, and of its unit's.
func (d *debugInfo) entryOf(addr uint64) (entry, unitEntry uint64, ok bool) {
	of, u, i, ok := d.functionAt(addr)
	if !ok || of != d {
		return 0, 0, false
	}
	return u.functions[i].at, u.entry, true
}
