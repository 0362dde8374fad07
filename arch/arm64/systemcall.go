package arm64

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
)

const svc0 = 0xd400_0001 // svc #0

// blocked implements [arch.SystemCalls]: the kernel has gone back to svc, and given x0 back
// (do_signal in arch/arm64/kernel/signal.c). qemu-user is behind it, and x0 has the first argument
// until there is a result.
func blocked(r *arch.Registers, before, at []byte) (c arch.SystemCall, ok bool) {
	is := func(code []byte) bool { return len(code) == 4 && binary.LittleEndian.Uint32(code) == svc0 }
	if c.Sure = is(at); !c.Sure && !is(before) {
		return c, false
	}
	copy(c.Args[:], r.Value[X0:X0+6])
	c.Number = r.Value[X0+8]
	return c, true
}
