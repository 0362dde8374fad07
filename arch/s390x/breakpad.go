package s390x

import "github.com/sfwalk/sfwalk/arch"

// breakpad has names for Breakpad's symbol files. Breakpad does not have the processor: they are
// sfwalk's and gdb's.
var breakpad = arch.BreakpadRules{
	Module: "s390x", Module32: "s390",
	Registers: arch.NamesFrom(map[int]string{0: "r0-r15 f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15", 64: "pswm pswa"}),
}
