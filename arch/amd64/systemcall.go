package amd64

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

var syscall = []byte{0x0f, 0x05}

// blocked implements [arch.SystemCalls]: behind syscall, rax has the result, and the arguments are
// still where they were (System V ABI, AMD64 supplement, appendix A.2.1).
func blocked(r *arch.Registers, before, _ []byte) (c arch.SystemCall, ok bool) {
	number, ok := r.Get(OrigRAX)
	if !ok || int64(number) < 0 || !arch.InterruptedCall(int64(r.Value[RAX])) || !bytes.HasSuffix(before, syscall) {
		return c, false
	}
	for i, n := range [...]trad.Reg{RDI, RSI, RDX, R10, R8, R9} {
		c.Args[i] = r.Value[n]
	}
	c.Number, c.Sure = number, true
	return c, true
}
