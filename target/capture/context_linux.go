//go:build amd64 || arm64 || s390x

package capture

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Context is a goroutine's context: its registers, and its stack. The zero Context has none. It may
// be used again.
type Context struct {
	raw    raw
	buffer []byte
	stack  []byte // from SP on
	tid    int
	tp     uint64 // see threadPointer
}

// raw are the registers at the return of capture: PC and SP, and then the processor's, by number.
type raw struct {
	pc, sp uint64
	regs   [32]uint64
}

// capture fills in its caller's registers, and copies the goroutine's stack from SP on. It returns
// how many bytes that is; if it is more than size, nothing is copied. It must not be called on a
// thread's own stack.
//
//go:noescape
func capture(to *raw, copied unsafe.Pointer, size uintptr) uintptr

// Capture captures the caller's context.
//
//go:noinline
func (c *Context) Capture() {
	c.tid, c.tp = unix.Gettid(), threadPointer()
	if c.buffer == nil {
		c.buffer = make([]byte, 4<<10)
	}
	for {
		n := capture(&c.raw, unsafe.Pointer(&c.buffer[0]), uintptr(len(c.buffer)))
		if n <= uintptr(len(c.buffer)) {
			c.stack = c.buffer[:n]
			return
		}
		c.buffer = make([]byte, 2*n) // the stack may have moved meanwhile: once more
	}
}
