//go:build amd64 || arm64 || s390x

package live

import "bytes"

// still reports whether a thread stands where it stood, or stands there again, when sp was
// its stack pointer, and first the inner part of its stack. It implements memory.still.
//
// It must be blocked: the kernel tells of no other thread where it is, and one that runs may
// have left its frames and made others there that look the same. Of one that has run, and is
// blocked again, the inner part of the stack tells.
func (f *files) still(tid int, sp uint64, first *block) bool {
	if f.closed.Load() || f.exited() {
		return false
	}
	_, now, _, ok := f.proc.blocked(tid)
	if !ok || now != sp {
		return false
	}
	data := make([]byte, len(first.data))
	n, _ := f.fetch(first.lo, data)
	return bytes.Equal(data[:n], first.data)
}
