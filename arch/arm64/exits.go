package arm64

import "github.com/sfwalk/sfwalk/arch"

// maxFollowed bounds how many instructions exits looks at.
const maxFollowed = 1 << 12

// exits implements arch.Arch.Exits.
func exits(code []byte, at int) (found arch.Exits) {
	seen := make([]bool, len(code))
	work := append(make([]int, 0, 16), at)
	for n := 0; len(work) > 0; n++ {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if at >= len(code) || n == maxFollowed {
			return found | arch.Returns // who knows
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		o := decode(code, at)
		next := at + size
		switch o.kind {
		case opStop:
			continue
		case opBad:
			if at+size <= len(code) && code[at+2]|code[at+3] == 0 {
				continue // udf: a trap
			}
			return found | arch.Returns
		case opJumpReg:
			return found | arch.Returns
		case opJump, opBranch, opBranchNE:
			if o.target == outside {
				found |= arch.Jumps
			} else {
				work = append(work, int(o.target))
			}
			if o.kind == opJump {
				continue
			}
		case opCall:
			if next >= len(code) {
				continue // it does not return
			}
		}
		work = append(work, next)
	}
	return found
}
