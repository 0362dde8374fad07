package arm

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
)

// Instructions of system calls.
const (
	svcA32   = 0xef00_0000 // svc #0
	svcThumb = 0xdf00      // svc #0 of Thumb code
)

// blocked implements [arch.SystemCalls]: the kernel has gone back to svc, and given r0 back
// (do_signal in arch/arm/kernel/signal.c). qemu-user is behind it, and r0 has the first argument
// until there is a result.
func blocked(r *arch.Registers, before, at []byte) (c arch.SystemCall, ok bool) {
	if len(before) < 4 || len(at) < 4 {
		return c, false
	}
	c.Sure = binary.LittleEndian.Uint32(at) == svcA32 || binary.LittleEndian.Uint16(at) == svcThumb
	if !c.Sure && binary.LittleEndian.Uint32(before) != svcA32 && binary.LittleEndian.Uint16(before[2:]) != svcThumb {
		return c, false
	}
	for i := range c.Args {
		c.Args[i] = uint64(uint32(r.Value[i]))
	}
	c.Number = uint64(uint32(r.Value[7]))
	return c, true
}
