package coreclr

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/target"
)

// All processors that are known here are little-endian, with pointers of 8 bytes.
var order = binary.LittleEndian

// word reads a pointer; 0 if it cannot be read.
func word(m target.Memory, addr uint64) uint64 {
	var p [8]byte
	if !read(m, addr, p[:]) {
		return 0
	}
	return order.Uint64(p[:])
}

// half reads a number of 4 bytes.
func half(m target.Memory, addr uint64) (v uint32, ok bool) {
	var p [4]byte
	ok = read(m, addr, p[:])
	return order.Uint32(p[:]), ok
}

// read fills p with the bytes at addr. It reports whether it could; else p is zero.
func read(m target.Memory, addr uint64, p []byte) bool {
	if addr == 0 || addr+uint64(len(p)) < addr {
		return false
	}
	if n, _ := m.ReadMemory(addr, p); n < len(p) {
		clear(p)
		return false
	}
	return true
}
