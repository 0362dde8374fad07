package arm

import "github.com/sfwalk/sfwalk/arch"

// breakpad has the names of Breakpad's symbol files.
var breakpad = arch.BreakpadRules{
	Module:    "arm",
	Registers: arch.NamesFrom(map[int]string{0: "r0-r12", 13: "sp lr pc f0-f7 fps cpsr", 64: "s0-s31 f0-f7"}),
}
