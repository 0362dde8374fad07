package lastwords

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// memory reads a process's memory, within a bound for all that is read for one thread.
type memory struct {
	of   target.Memory
	arch *arch.Arch
	left int // bytes
}

// mostRead bounds what is read for one thread, bytes.
const mostRead = 1 << 20

func newMemory(of target.Memory, a *arch.Arch) *memory {
	if of == nil {
		of = target.NoMemory
	}
	return &memory{of: of, arch: a, left: mostRead}
}

// part reads up to n bytes at an address, and returns as many as can be read.
func (m *memory) part(addr uint64, n int) []byte {
	n = min(n, m.left)
	if addr == 0 || n <= 0 {
		return nil
	}
	m.left -= n
	p := make([]byte, n)
	got, _ := m.of.ReadMemory(addr, p)
	return p[:max(0, min(got, n))]
}

// bytes reads n bytes at an address; nil if not all can be read.
func (m *memory) bytes(addr uint64, n int) []byte {
	if p := m.part(addr, n); len(p) == n {
		return p
	}
	return nil
}

// word reads an address at an address.
func (m *memory) word(addr uint64) (uint64, bool) {
	p := m.bytes(addr, m.arch.PtrSize)
	if p == nil {
		return 0, false
	}
	return m.arch.Word(p), true
}

// half reads a number of 32 bits.
func (m *memory) half(addr uint64) (uint32, bool) {
	p := m.bytes(addr, 4)
	if p == nil {
		return 0, false
	}
	return m.arch.Order.Uint32(p), true
}

const (
	// maxText bounds a text, bytes.
	maxText = 4 << 10
	// textPiece is how much of a text is read at once, bytes: most end before.
	textPiece = 256
)

// text reads a text that ends with a zero. It is cut behind maxText bytes. ok is false if it is
// empty, or ends where nothing can be read.
func (m *memory) text(addr uint64) (string, bool) {
	var text []byte
	for len(text) < maxText {
		p := m.part(addr+uint64(len(text)), textPiece)
		if end := bytes.IndexByte(p, 0); end >= 0 {
			text = append(text, p[:end]...)
			return string(text), len(text) > 0
		}
		text = append(text, p...)
		if len(p) < textPiece {
			return "", false
		}
	}
	return string(text[:maxText]) + "…", true
}
