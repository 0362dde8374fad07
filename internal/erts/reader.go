package erts

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Reader reads numbers in the memory of a process. What cannot be read is 0, and OK is false until
// Err was asked for.
type Reader interface {
	Bytes(addr uint64, p []byte) bool
	Uint(addr uint64, size int) uint64
	Pointer(addr uint64) uint64
	OK() bool
	Err() error
}

// plain is a Reader that keeps nothing.
type plain struct {
	memory target.Memory
	arch   *arch.Arch
	err    error
	room   [8]byte
}

// NewReader returns a Reader of a memory, for few reads: it keeps nothing that it has read. It is
// not safe for concurrent use.
func NewReader(m target.Memory, a *arch.Arch) Reader { return &plain{memory: m, arch: a} }

func (r *plain) OK() bool { return r.err == nil }

func (r *plain) Err() error {
	err := r.err
	r.err = nil
	return err
}

func (r *plain) Bytes(addr uint64, p []byte) bool {
	if addr == 0 || addr+uint64(len(p)) < addr {
		r.err = fmt.Errorf("nothing can be at %#x", addr)
	} else if n, err := r.memory.ReadMemory(addr, p); n < len(p) {
		r.err = fmt.Errorf("memory at %#x: %w", addr, err)
	} else {
		return true
	}
	clear(p)
	return false
}

func (r *plain) Uint(addr uint64, size int) uint64 {
	b := r.room[:size]
	if !r.Bytes(addr, b) {
		return 0
	}
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(r.arch.Order.Uint16(b))
	case 4:
		return uint64(r.arch.Order.Uint32(b))
	default:
		return r.arch.Order.Uint64(b)
	}
}

func (r *plain) Pointer(addr uint64) uint64 { return r.Uint(addr, 8) }
