package symbol

import "debug/dwarf"

// Declared returns where the source declares what the entry describes: the file, as the compiler
// recorded it, and the line, from 1 on. A coroutine's debug information has in this way the places
// at which it may wait. line is 0 if the entry does not tell.
func (e *Entry) Declared() (file string, line int) {
	number, ok := e.attr(dwarf.AttrDeclLine)
	if !ok {
		return "", 0
	}
	in, _ := e.attr(dwarf.AttrDeclFile)
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		file = d.linesOf(u).fileName(int(lineNumber(in)))
		return nil
	})
	return file, int(lineNumber(number))
}
