package s390x

import (
	"strconv"
	"strings"
)

// vectorBytes implements arch.Arch.VectorBytes. gcc records its options: vectors go into registers for z13 and later
// processors (arch11), unless -mno-vx says otherwise.
func vectorBytes(producer string) (n uint64, known bool) {
	const z13, arch11, bytes = 13, 11, 16
	for _, o := range strings.Fields(producer) {
		model, ok := strings.CutPrefix(o, "-march=")
		switch {
		case o == "-mno-vx", o == "-msoft-float":
			return 0, true
		case !ok:
			continue
		case model == "z900", model == "z990", strings.HasPrefix(model, "z9-"), model == "zEC12", model == "z10", model == "z196", model == "g5", model == "g6":
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
