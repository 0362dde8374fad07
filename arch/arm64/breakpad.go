package arm64

import "github.com/sfwalk/sfwalk/arch"

// breakpad has the names of Breakpad's symbol files.
var breakpad = arch.BreakpadRules{
	Module:    "arm64",
	Registers: arch.NamesFrom(map[int]string{0: "x0-x30 sp", 64: "v0-v31"}),
}
