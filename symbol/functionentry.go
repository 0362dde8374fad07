package symbol

import (
	"debug/dwarf"
	"fmt"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// FunctionEntry is where DWARF describes a function.
type FunctionEntry struct {
	// Data has the DWARF of the function's unit alone, Function and Unit are the offsets of their
	// entries in it. What it refers to in other units is not there.
	Data           *dwarf.Data
	Function, Unit dwarf.Offset
	// Image is the file that has the DWARF of all units, Start the offset of the unit in its .debug_info. The
	// image must not be used after [Symbolizer.Close].
	Image *elfimage.Image
	Start uint64
}

// FunctionEntry returns where DWARF describes the function that has the code at pc. ok is false if it does not, does
// so in a file of its own (.dwo), or knows no types because the function was written in assembly.
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
	x.ask(func(d *debugInfo) { e, ok = d.entryOf(pc - mod.bias) })
	e.Image = x.from
	return e, ok
}

// entryOf returns where the function at a link-time address is described.
func (d *debugInfo) entryOf(addr uint64) (e FunctionEntry, ok bool) {
	at, ok := d.functionAt(addr)
	u := at.u
	if !ok || at.d != d || u.head.assembler {
		return e, false
	}
	data, err := d.unitData(u)
	if err != nil {
		return e, false
	}
	return FunctionEntry{Data: data, Function: dwarf.Offset(at.entry() - u.Start), Unit: dwarf.Offset(u.Entry - u.Start), Start: u.Start}, true
}

// unitData opens the DWARF of one unit.
func (d *debugInfo) unitData(u *unit) (data *dwarf.Data, err error) {
	defer func() {
		if r := recover(); r != nil { // of debug/dwarf, by a broken file
			err = fmt.Errorf("read DWARF: %v", r)
		}
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	info, err := d.info.bytes(u.Start, u.End)
	if err != nil {
		return nil, err
	}
	whole := func(s *section) []byte {
		if s == nil {
			return nil
		}
		b, sectionErr := s.all()
		if sectionErr != nil && err == nil {
			err = sectionErr
		}
		return b
	}
	data, newErr := dwarf.New(whole(d.abbrev), nil, nil, info, nil, nil, nil, whole(d.str))
	if newErr != nil {
		return nil, newErr
	}
	for name, s := range map[string]*section{".debug_line_str": d.lineStr, ".debug_str_offsets": d.strOffsets, ".debug_addr": d.addrs} {
		if b := whole(s); len(b) > 0 {
			if err := data.AddSection(name, b); err != nil {
				return nil, err
			}
		}
	}
	return data, err
}
