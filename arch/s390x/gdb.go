package s390x

import (
	"slices"
	"strconv"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
)

// gdb has the registers of gdb's features/s390-core64.xml, s390-acr.xml and s390-fpr.xml.
var gdb = sync.OnceValue(func() *arch.GDB {
	return &arch.GDB{
		Names: []string{"s390:64-bit"},
		Registers: slices.Concat(
			arch.GDBRegisters(64, "pswm", "pswa"),
			arch.GDBRegisters(64, arch.Numbered("r", 16)...),
			arch.GDBRegisters(32, arch.Numbered("acr", 16)...),
			arch.GDBRegisters(32, "fpc"),
			arch.GDBRegisters(64, arch.Numbered("f", 16)...)),
		Parts:      parts(),
		SystemCall: "system_call",
	}
})

// parts are the vector registers that begin with f0 to f15 (gdb's features/s390-vx.xml).
func parts() map[string][]string {
	m := map[string][]string{}
	for i := range 16 {
		m["v"+strconv.Itoa(i)] = []string{"f" + strconv.Itoa(i), "v" + strconv.Itoa(i) + "l"}
	}
	return m
}
