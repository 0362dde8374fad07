package native

import (
	"fmt"

	"github.com/sfwalk/sfwalk/internal/guard"
	"github.com/sfwalk/sfwalk/target"
)

// memory is the process's memory. It keeps what was read until the process runs, or is written to.
type memory struct {
	process     *Process
	pages       map[uint64]*[pageSize]byte
	breakpoints map[uint64][]byte // the code where breakpoints are
}

const (
	pageSize = 4096
	maxPages = 4096
	maxAhead = 1 << 20 // bytes
)

var (
	_ target.WritableMemory = (*memory)(nil)
	_ target.CopiedMemory   = (*memory)(nil)
)

func (m *memory) forget() { m.pages = nil }

// page returns the page at lo, nil if it cannot be read as a whole.
func (m *memory) page(lo uint64) *[pageSize]byte {
	if p := m.pages[lo]; p != nil {
		return p
	}
	p := new([pageSize]byte)
	if n, _ := m.process.look.Present().ReadMemory(lo, p[:]); n < pageSize {
		return nil
	}
	m.keep(lo, p)
	return p
}

// ahead reads the pages from lo to below hi in one go, as far as they can be read.
func (m *memory) ahead(lo, hi uint64) {
	for lo < hi && m.pages[lo] != nil {
		lo += pageSize
	}
	if hi-lo <= pageSize || lo >= hi {
		return
	}
	all := make([]byte, min(hi-lo, maxAhead))
	n, _ := m.process.look.Present().ReadMemory(lo, all)
	for ; n >= pageSize; n -= pageSize {
		if m.pages[lo] == nil {
			m.keep(lo, (*[pageSize]byte)(all))
		}
		lo, all = lo+pageSize, all[pageSize:]
	}
}

// keep keeps the page at lo, with the code where breakpoints are.
func (m *memory) keep(lo uint64, p *[pageSize]byte) {
	for at, code := range m.breakpoints {
		for i := range code {
			if k := at + uint64(i) - lo; k < pageSize {
				p[k] = code[i]
			}
		}
	}
	if m.pages == nil || len(m.pages) == maxPages {
		m.pages = map[uint64]*[pageSize]byte{}
	}
	m.pages[lo] = p
}

// ReadMemory implements [target.Memory].
func (m *memory) ReadMemory(addr uint64, b []byte) (n int, err error) {
	if first := addr &^ (pageSize - 1); len(b) > pageSize && addr+uint64(len(b)) > addr {
		m.ahead(first, (addr+uint64(len(b))+pageSize-1)&^(pageSize-1))
	}
	for n < len(b) {
		at := addr + uint64(n)
		page := m.page(at &^ (pageSize - 1))
		if page == nil {
			return n, fmt.Errorf("read memory at %#x: %w", at, target.ErrUnmapped)
		}
		n += copy(b[n:], page[at&(pageSize-1):])
	}
	return n, nil
}

// Window implements [target.CopiedMemory].
func (m *memory) Window(addr uint64) (lo uint64, data []byte) {
	lo = addr &^ (pageSize - 1)
	if page := m.pages[lo]; page != nil {
		return lo, page[:]
	}
	return 0, nil
}

// WriteMemory implements [target.WritableMemory].
func (m *memory) WriteMemory(addr uint64, b []byte) (n int, err error) {
	const most = guard.MaxMessage / 2 // bytes in one request
	for len(b) > most && err == nil {
		done := 0
		done, err = m.write(addr, b[:most])
		n, addr, b = n+done, addr+uint64(done), b[done:]
	}
	if err != nil {
		return n, err
	}
	last, err := m.write(addr, b)
	return n + last, err
}

func (m *memory) write(addr uint64, b []byte) (n int, err error) {
	a, err := m.process.ask(&guard.Request{Op: guard.OpWrite, Addr: addr, Data: b})
	m.forget()
	for at, code := range m.breakpoints {
		for i := range code {
			if k := at + uint64(i) - addr; a != nil && k < uint64(a.N) {
				code[i] = b[k]
			}
		}
	}
	if err != nil {
		if a != nil {
			n = a.N
		}
		return n, fmt.Errorf("write memory at %#x: %w", addr+uint64(n), err)
	}
	return a.N, nil
}
