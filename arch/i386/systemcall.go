package i386

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

var (
	int80   = []byte{0xcd, 0x80}
	syscall = []byte{0x0f, 0x05} // of AMD's processors
)

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

// lastCall returns the system call that a thread has not gone on from: behind int $0x80, which the
// kernel has behind sysenter, too, eax has the result, and the arguments are still where they were.
func lastCall(r *arch.Registers, before []byte) (c arch.SystemCall, result int64, ok bool) {
	number, ok := r.Get(OrigEAX)
	if !ok || int32(number) < 0 || !bytes.HasSuffix(before, int80) && !bytes.HasSuffix(before, syscall) {
		return c, 0, false
	}
	for i, n := range [...]trad.Reg{EBX, ECX, EDX, ESI, EDI, EBP} {
		c.Args[i] = uint64(uint32(r.Value[n]))
	}
	c.Number, c.Sure = number, true
	return c, int64(int32(r.Value[EAX])), true
}
