package amd64

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/x86"
)

// gdb has the registers of gdb's features/i386/64bit-core.xml.
var gdb = sync.OnceValue(func() *arch.GDB {
	return &arch.GDB{
		Names: []string{"i386:x86-64", "x86-64", "x86_64"},
		Registers: slices.Concat(
			arch.GDBRegisters(64, "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"),
			arch.GDBRegisters(32, "eflags", "cs", "ss", "ds", "es", "fs", "gs")),
		Aliases:    map[string]string{"rflags": "eflags"}, // lldb-server's
		Parts:      parts(),
		SystemCall: "orig_rax",
		X87Status:  "fstat",
		Settable:   x86.Settable(),
	}
})

// parts are the vector registers, of gdb's features/i386/64bit-sse.xml and 64bit-avx.xml.
func parts() map[string][]string {
	m := map[string][]string{}
	for i := range 16 {
		m[fmt.Sprintf("ymm%d", i)] = []string{fmt.Sprintf("xmm%d", i), fmt.Sprintf("ymm%dh", i)}
	}
	return m
}
