// Package memtest has memories of processes for tests.
package memtest

import (
	"fmt"
	"io"
)

// Flat is memory that has Data from address Lo on, and nothing else.
type Flat struct {
	Lo   uint64
	Data []byte
}

// ReadMemory implements [github.com/sfwalk/sfwalk/target.Memory].
func (m Flat) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if off := addr - m.Lo; off < uint64(len(m.Data)) {
		n = copy(p, m.Data[off:])
	}
	if n < len(p) {
		err = fmt.Errorf("memory at %#x: %w", addr+uint64(n), io.ErrUnexpectedEOF)
	}
	return n, err
}
