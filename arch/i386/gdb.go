package i386

import (
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
)

// gdb has the registers of gdb's features/i386/32bit-core.xml and 32bit-sse.xml.
var gdb = sync.OnceValue(func() *arch.GDB {
	return &arch.GDB{
		Names: []string{"i386", "i386:intel", "i486", "i586", "i686"},
		Registers: slices.Concat(
			arch.GDBRegisters(32, "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", "eflags", "cs", "ss", "ds", "es", "fs", "gs"),
			arch.GDBRegisters(80, arch.Numbered("st", 8)...),
			arch.GDBRegisters(32, "fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"),
			arch.GDBRegisters(128, arch.Numbered("xmm", 8)...),
			arch.GDBRegisters(32, "mxcsr")),
		Parts:          parts(),
		Misplaced:      x86.Misplaced,
		VectorElements: x86.VectorElements,
		SystemCall:     "orig_eax",
		X87Status:      "fstat",
		Settable:       x86.Settable(),
	}
})
