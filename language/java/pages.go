package java

import "github.com/sfwalk/sfwalk/target"

// pages are what was read of a memory in one look at it: objects lie near each other, and each read
// of a process is a system call.
type pages struct {
	target.Memory
	known map[uint64][]byte
	last  uint64 // the page that was asked for last
	page  []byte
}

const (
	pageSize  = 1 << 12
	mostPages = 1 << 14
)

// ReadMemory implements [target.Memory].
func (m *pages) ReadMemory(addr uint64, p []byte) (int, error) {
	at := addr &^ (pageSize - 1)
	if addr+uint64(len(p)) > at+pageSize || at == 0 {
		return m.Memory.ReadMemory(addr, p)
	}
	if at != m.last {
		page, known := m.known[at]
		if !known {
			if len(m.known) == mostPages {
				clear(m.known)
			}
			page = make([]byte, pageSize)
			n, _ := m.Memory.ReadMemory(at, page)
			page = page[:n]
			m.known[at] = page
		}
		m.last, m.page = at, page
	}
	if addr-at+uint64(len(p)) > uint64(len(m.page)) {
		return m.Memory.ReadMemory(addr, p)
	}
	return copy(p, m.page[addr-at:]), nil
}
