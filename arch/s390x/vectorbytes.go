package s390x

import (
	"slices"
	"strconv"
	"strings"
)

// withoutVectors are gcc's names of processors before z13, but z9-109 and z9-ec.
var withoutVectors = []string{"g5", "g6", "z900", "z990", "z10", "z196", "zEC12"}

// vectorBytes implements arch.Arch.VectorBytes. gcc records its options: vectors go into registers
// for z13 and later processors (arch11), unless -mno-vx says otherwise.
func vectorBytes(producer string) (n uint64, known bool) {
	const z13, arch11, bytes = 13, 11, 16
	for _, o := range strings.Fields(producer) {
		model, ok := strings.CutPrefix(o, "-march=")
		switch {
		case o == "-mno-vx", o == "-msoft-float":
			return 0, true
		case !ok:
			continue
		case slices.Contains(withoutVectors, model), strings.HasPrefix(model, "z9-"):
			known = true
			continue
		}
		least := z13
		number, ok := strings.CutPrefix(model, "arch")
		if ok {
			least = arch11
		} else if number, ok = strings.CutPrefix(model, "z"); !ok {
			return 0, false
		}
		version, err := strconv.Atoi(number)
		if err != nil {
			return 0, false
		}
		if known = true; version >= least {
			n = bytes
		}
	}
	return n, known
}
