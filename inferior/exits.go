package inferior

import (
	"debug/elf"
	"slices"

	"github.com/sfwalk/sfwalk/target"
)

// exit is a function by which a program leaves several frames at once.
type exit struct {
	addr    uint64
	purpose purpose
}

// leaving has the names of these functions. Handlers of exceptions are installed by _Unwind_SetIP
// (Itanium C++ ABI: Exception Handling, 1.5.2), in all languages.
var leaving = map[string]purpose{
	"longjmp": jumps, "_longjmp": jumps, "siglongjmp": jumps, "__longjmp_chk": jumps,
	"_Unwind_SetIP": installs,
}

// exits returns the functions of leaving that a process has.
func exits(modules *target.Modules) (list []exit) {
	for _, m := range modules.All() {
		list = append(list, m.Memo(leavingOf{}, func() any { return exitsOf(m) }).([]exit)...)
	}
	return list
}

type leavingOf struct{} // a key

func exitsOf(m *target.Module) (list []exit) {
	im, bias, err := m.Image()
	if err != nil {
		return nil
	}
	const versions = 8 // of one name
	for name, why := range leaving {
		for _, s := range im.Lookup(name, versions) {
			x := exit{s.Addr + bias, why}
			if s.Type == elf.STT_FUNC && !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	return list
}
