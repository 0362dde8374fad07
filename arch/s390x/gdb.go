package s390x

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
)

// gdb has the registers of gdb's features/s390-core64.xml, s390-acr.xml and s390-fpr.xml.
var gdb = arch.GDB{
	Names: []string{"s390:64-bit"},
	Registers: slices.Concat(
		arch.GDBRegisters(64, "pswm", "pswa"),
		arch.GDBRegisters(64, arch.Numbered("r", 16)...),
		arch.GDBRegisters(32, arch.Numbered("acr", 16)...),
		arch.GDBRegisters(32, "fpc"),
		arch.GDBRegisters(64, arch.Numbered("f", 16)...)),
}
