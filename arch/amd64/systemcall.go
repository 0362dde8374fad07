package amd64

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

var syscall = []byte{0x0f, 0x05}

// blocked implements [arch.SystemCalls].
func blocked(r *arch.Registers, before, _ []byte) (c arch.SystemCall, ok bool) {
	c, result, ok := lastCall(r, before)
	return c, ok && arch.InterruptedCall(result)
}

// cutShort implements [arch.SystemCalls].
func cutShort(r *arch.Registers, before []byte) (c arch.SystemCall, ok bool) {
	c, result, ok := lastCall(r, before)
	return c, ok && arch.ShortWrite(callName(c.Number), &c.Args, result)
}

// lastCall returns the system call that a thread has not gone on from: behind syscall, rax has the
// result, and the arguments are still where they were (System V ABI, AMD64 supplement, appendix
// A.2.1).
func lastCall(r *arch.Registers, before []byte) (c arch.SystemCall, result int64, ok bool) {
	number, ok := r.Get(OrigRAX)
	if !ok || int64(number) < 0 || !bytes.HasSuffix(before, syscall) {
		return c, 0, false
	}
	for i, n := range [...]trad.Reg{RDI, RSI, RDX, R10, R8, R9} {
		c.Args[i] = r.Value[n]
	}
	c.Number, c.Sure = number, true
	return c, int64(r.Value[RAX]), true
}
