package s390x

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// opSVC is the opcode of svc. Its second byte is the number of the system call; if that is 0, r1
// has the number.
const opSVC = 0x0a

// blocked implements [arch.SystemCalls]: behind svc, r2 has the result, or is still the first
// argument, as qemu-user has it.
func blocked(r *arch.Registers, before, _ []byte) (c arch.SystemCall, ok bool) {
	n := len(before)
	if n < 2 || before[n-2] != opSVC {
		return c, false
	}
	if c.Number = uint64(before[n-1]); c.Number == 0 {
		c.Number = r.Value[R1]
	}
	for i, n := range [...]trad.Reg{R2, R3, R4, R5, R6, R7} {
		c.Args[i] = r.Value[n]
	}
	if arch.InterruptedCall(int64(c.Args[0])) {
		c.Args[0], c.Sure = r.Value[OrigR2], true
	}
	return c, true
}
