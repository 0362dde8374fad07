package s390x

import "github.com/sfwalk/sfwalk/arch"

// maxFollowed bounds how many instructions exits looks at.
const maxFollowed = 1 << 12

// Linux's system calls that end a thread, or the process.
const exit, exitGroup = 1, 248

// exits implements arch.Arch.Exits.
func exits(code []byte, at int) (found arch.Exits) {
	// number is the value of the register that says which system call is meant; -1 where
	// the straight line to the instruction does not tell.
	type place struct{ at, number int }
	seen := make([]bool, len(code))
	work := append(make([]place, 0, 16), place{at, -1})
	for n := 0; len(work) > 0; n++ {
		at, number := work[len(work)-1].at, work[len(work)-1].number
		work = work[:len(work)-1]
		if at >= len(code) || n == maxFollowed {
			return found | arch.Returns // who knows
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		o := decode(code, at)
		next := at + int(o.len)
		switch o.kind {
		case opStop:
			continue
		case opBad:
			if code[at] == 0 && at+1 < len(code) && code[at+1] == 0 {
				continue // an instruction that will never be one: a trap
			}
			return found | arch.Returns
		case opJumpReg, opMaybeReg, opJumpAway:
			return found | arch.Returns
		case opJump, opBranch, opBranchNE:
			if to := o.within(code); to == outside {
				found |= arch.Jumps
			} else {
				work = append(work, place{int(to), -1})
			}
			if o.kind == opJump {
				continue
			}
		case opCall:
			if next >= len(code) {
				continue // it does not return
			}
			number = -1
		default:
			if code[at] == 0x0a && at+1 < len(code) { // svc, whose number may be in it
				if code[at+1] != 0 {
					number = int(code[at+1])
				}
				if number == exit || number == exitGroup {
					continue
				}
				number = -1
			}
			if o.kind == opConst && o.dst == R1 {
				number = int(o.imm)
			} else if o.dst == R1 || o.kill&bit(R1) != 0 {
				number = -1
			}
		}
		work = append(work, place{next, number})
	}
	return found
}
