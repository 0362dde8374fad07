package amd64

import (
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
)

// gdb has the registers of gdb's features/i386/64bit-core.xml.
var gdb = sync.OnceValue(func() *arch.GDB {
	return &arch.GDB{
		Names: []string{"i386:x86-64", "x86-64", "x86_64"},
		Registers: slices.Concat(
			arch.GDBRegisters(64, "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"),
			arch.GDBRegisters(32, "eflags", "cs", "ss", "ds", "es", "fs", "gs")),
		Aliases:        map[string]string{"rflags": "eflags"}, // lldb-server's
		Parts:          parts(),
		Misplaced:      x86.Misplaced,
		VectorElements: x86.VectorElements,
		SystemCall:     "orig_rax",
		X87Status:      "fstat",
		Settable:       x86.Settable(),
	}
})
