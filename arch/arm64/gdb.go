package arm64

import (
	"slices"
	"strconv"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
)

// gdb has the registers of gdb's features/aarch64-core.xml. The low half of a vector register v8,
// or of a scalable one z8, is d8.
var gdb = sync.OnceValue(func() *arch.GDB {
	return &arch.GDB{
		Names: []string{"aarch64"},
		Registers: slices.Concat(
			arch.GDBRegisters(64, arch.Numbered("x", 31)...),
			arch.GDBRegisters(64, "sp", "pc"),
			arch.GDBRegisters(32, "cpsr")),
		Aliases: map[string]string{
			"z8": "d8", "z9": "d9", "z10": "d10", "z11": "d11", "z12": "d12", "z13": "d13", "z14": "d14", "z15": "d15",
			"v8": "d8", "v9": "d9", "v10": "d10", "v11": "d11", "v12": "d12", "v13": "d13", "v14": "d14", "v15": "d15",
			"fp": "x29", "lr": "x30", "TPIDR_EL0": "tpidr",
		},
		Parts:    parts(),
		Settable: map[string]uint64{"cpsr": 0xf000_0000}, // N, Z, C, V
	}
})

// parts are the scalable vector registers (gdb's features/aarch64-sve.c), which begin with the
// others.
func parts() map[string][]string {
	m := map[string][]string{}
	for i := range 32 {
		m["v"+strconv.Itoa(i)] = []string{"z" + strconv.Itoa(i)}
	}
	return m
}
