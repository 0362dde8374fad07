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
		Names: []string{"s390:64-bit", "s390x"},
		Registers: slices.Concat(
			arch.GDBRegisters(64, "pswm", "pswa"),
			arch.GDBRegisters(64, arch.Numbered("r", 16)...),
			arch.GDBRegisters(32, arch.Numbered("acr", 16)...),
			arch.GDBRegisters(32, "fpc"),
			arch.GDBRegisters(64, arch.Numbered("f", 16)...)),
		Parts:      parts(),
		SystemCall: "system_call",
		Settable:   settable(),
	}
})

// settable are the condition code and the program mask of the PSW. The rest tells where the last
// branch was, and of a transaction that was aborted (gdb's features/s390-tdb.xml).
func settable() map[string]uint64 {
	m := map[string]uint64{"pswm": 0x3f << 40, "last_break": 0, "tdb0": 0, "tac": 0, "tct": 0, "atia": 0}
	for i := range 16 {
		m["tr"+strconv.Itoa(i)] = 0
	}
	return m
}

// parts are the vector registers that begin with f0 to f15 (gdb's features/s390-vx.xml).
func parts() map[string][]string {
	m := map[string][]string{}
	for i := range 16 {
		m["v"+strconv.Itoa(i)] = []string{"f" + strconv.Itoa(i), "v" + strconv.Itoa(i) + "l"}
	}
	return m
}
