package pypy

import (
	elffile "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// identity is a function that every program that RPython has translated exports.
var identity = elffile.Seldom("rpython_startup_code")

// least is how large PyPy is at least in memory, bytes.
const least = 8 << 20

// In reports whether a module is PyPy, or another program that RPython has translated.
func In(m *target.Module) bool {
	if m.Hi()-m.Lo() < least {
		return false
	}
	im, _, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(identity) {
		return false
	}
	_, ok := im.Exported(identity)
	return ok
}

type ofProcess struct{}

// Is reports whether a process has such a module.
func Is(modules *target.Modules) bool {
	return modules.Memo(ofProcess{}, func() any {
		for _, m := range modules.All() {
			if In(m) {
				return true
			}
		}
		return false
	}).(bool)
}
