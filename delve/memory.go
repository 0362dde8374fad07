//go:build linux && (amd64 || arm64)

package delve

import (
	"fmt"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/target"
)

const pageSize = 4096

// memory is the address space that Delve reads, with the program's own instructions
// in place of Delve's breakpoints. It implements [target.CopiedMemory].
type memory struct {
	proc  *proc.Target
	pages map[uint64][]byte // by address: the part of each that was read since forget
}

func newMemory(t *proc.Target) *memory {
	return &memory{proc: t, pages: make(map[uint64][]byte)}
}

// forget drops the copies, because the process may have run, or memory may have been written.
func (m *memory) forget() { m.pages = make(map[uint64][]byte) }

// ReadMemory copies from the first page of the range, and reads the rest from the process.
func (m *memory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if lo, data := m.Window(addr); addr >= lo && addr-lo <= uint64(len(data)) {
		n = copy(p, data[addr-lo:])
	}
	if n < len(p) {
		n += m.read(addr+uint64(n), p[n:])
	}
	if n < len(p) {
		return n, fmt.Errorf("%#x: %w", addr+uint64(n), target.ErrUnmapped)
	}
	return n, nil
}

// Window lends the page of addr, from its beginning on as far as it can be read.
func (m *memory) Window(addr uint64) (lo uint64, data []byte) {
	lo = addr &^ (pageSize - 1)
	data, ok := m.pages[lo]
	if !ok {
		data = make([]byte, pageSize)
		data = data[:m.read(lo, data)]
		if len(m.pages) == maxPages {
			m.forget()
		}
		m.pages[lo] = data
	}
	if addr-lo >= uint64(len(data)) {
		return 0, nil
	}
	return lo, data
}

// maxPages bounds the copies to 64 MiB.
const maxPages = 1 << 14

// read reads as much of p from addr on as it can. Delve's backends may read a part and then
// report an error or none; some read nothing where a part could be read.
func (m *memory) read(addr uint64, p []byte) (n int) {
	for n < len(p) {
		at := addr + uint64(n)
		if at < addr {
			break
		}
		part := p[n:]
		got, err := m.proc.Memory().ReadMemory(part, at)
		if got <= 0 || err != nil && got < len(part) {
			// Read up to the next page instead.
			room := pageSize - at%pageSize
			if got > 0 || uint64(len(part)) <= room {
				n += max(got, 0)
				break
			}
			if got, err = m.proc.Memory().ReadMemory(part[:room], at); got <= 0 || err != nil {
				n += max(got, 0)
				break
			}
		}
		n += min(got, len(part))
	}
	m.unpatch(addr, p[:n])
	return n
}

// unpatch puts the program's own instructions where Delve's breakpoints are.
func (m *memory) unpatch(addr uint64, p []byte) {
	for at, b := range m.proc.Breakpoints().M {
		for i, own := range b.OriginalData {
			if off := at + uint64(i) - addr; off < uint64(len(p)) {
				p[off] = own
			}
		}
	}
}
