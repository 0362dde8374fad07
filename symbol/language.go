package symbol

import dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
import "github.com/sfwalk/sfwalk/target"

// Language returns the language in which the function at pc, an address in block, is written
// (DW_AT_language), by GDB's name of it: "c", "c++", "rust", "asm". It is "" if no debug
// information tells, and "minimal" for a language that GDB has no name for.
func (s *Symbolizer) Language(modules *target.Modules, pc uint64) (name string) {
	m := modules.Find(pc)
	if m == nil {
		return ""
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return ""
	}
	info := mod.dwarf()
	if info == nil {
		return ""
	}
	info.ask(func(d *debugInfo) {
		name = ""
		d.eachUnit(pc-mod.bias, func(u *unit) bool {
			if code := u.head.languageCode; code.Class == dwarfdata.ClassConstant {
				name = languageName(code.N)
			} else if u.split != nil && u.split.unit.head != nil && u.split.unit.head.languageCode.Class == dwarfdata.ClassConstant {
				name = languageName(u.split.unit.head.languageCode.N)
			}
			return name == ""
		})
	})
	return name
}

// languageName returns GDB's name of a DW_LANG code, DWARF 5 table 7.17 and its later additions.
func languageName(code uint64) string {
	switch code {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c: // C89, C, C99, C11, C17
		return "c"
	case 0x04, 0x1a, 0x21, 0x2b, 0x3a: // C_plus_plus, 11, 14, 17, 20
		return "c++"
	case 0x07, 0x08, 0x0e, 0x22, 0x23: // Fortran 77, 90, 95, 03, 08
		return "fortran"
	case 0x03, 0x0d, 0x2e, 0x2f: // Ada 83, 95, 2005, 2012
		return "ada"
	case 0x09:
		return "pascal"
	case 0x0a:
		return "modula-2"
	case 0x10, 0x11: // ObjC, ObjC_plus_plus
		return "objective-c"
	case 0x13:
		return "d"
	case 0x15:
		return "opencl"
	case 0x16:
		return "go"
	case 0x1c:
		return "rust"
	case langAssembler:
		return "asm"
	}
	return "minimal"
}
