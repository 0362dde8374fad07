package arm

import (
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
)

// gdb has the registers of stubs that describe none: the registers of the old floating-point unit
// come before cpsr.
var gdb = sync.OnceValue(func() *arch.GDB {
	return &arch.GDB{
		Names: []string{"arm", "armv4", "armv4t", "armv5", "armv5t", "armv5te", "armv5tej", "armv6", "armv6kz", "armv6t2", "armv6k",
			"armv7", "armv8-a", "armv8-r", "arm_any", "iwmmxt", "iwmmxt2", "xscale"},
		Registers: slices.Concat(
			arch.GDBRegisters(32, arch.Numbered("r", 13)...),
			arch.GDBRegisters(32, "sp", "lr", "pc"),
			arch.GDBRegisters(96, arch.Numbered("f", 8)...),
			arch.GDBRegisters(32, "fps", "cpsr")),
		Aliases:  map[string]string{"fp": "r11", "ip": "r12", "r13": "sp", "r14": "lr", "r15": "pc", "TPIDRURO": "tpidruro"},
		Settable: map[string]uint64{"cpsr": 0xf000_0000}, // N, Z, C, V
	}
})
