package amd64

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
)

// gdb has the registers of gdb's features/i386/64bit-core.xml.
var gdb = arch.GDB{
	Names: []string{"i386:x86-64", "x86-64"},
	Registers: slices.Concat(
		arch.GDBRegisters(64, "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"),
		arch.GDBRegisters(32, "eflags", "cs", "ss", "ds", "es", "fs", "gs")),
}
