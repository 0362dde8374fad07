//go:build amd64 || arm64 || s390x

package live

import "bytes"

// innerPart is how much of the inner part of a stack must be as it was, bytes. What lies
// outward may be no longer the thread's: goroutines have small stacks, close together.
const innerPart = 4 << 10

// still reports whether a thread stands where it stood, or stands there again, when its view
// was made. It implements memory.still.
//
// It must be blocked: the kernel tells of no other thread where it is, and one that runs may
// have left its frames and made others there that look the same. Of one that has run, and is
// blocked again, the inner part of the stack tells.
func (f *files) still(v *view) bool {
	if f.closed.Load() || f.exited() {
		return false
	}
	_, sp, pc, ok := f.proc.blocked(v.tid)
	if !ok || sp != v.sp || pc != v.pc {
		return false
	}
	data := make([]byte, len(v.first.data))
	n, _ := f.fetch(v.first.lo, data)
	return bytes.Equal(data[:n], v.first.data)
}
