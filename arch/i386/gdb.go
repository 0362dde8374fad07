package i386

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/x86"
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
		Parts:      parts(),
		SystemCall: "orig_eax",
		X87Status:  "fstat",
		Settable:   x86.Settable(),
	}
})

// parts are the vector registers, of gdb's features/i386/32bit-sse.xml and 32bit-avx.xml.
func parts() map[string][]string {
	m := map[string][]string{}
	for i := range 8 {
		m[fmt.Sprintf("ymm%d", i)] = []string{fmt.Sprintf("xmm%d", i), fmt.Sprintf("ymm%dh", i)}
	}
	return m
}
