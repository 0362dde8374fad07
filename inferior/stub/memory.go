package stub

import (
	"github.com/sfwalk/sfwalk/target"
)

// memory is the process's memory without the breakpoints that were written into it because the stub
// puts none.
type memory struct{ process *Process }

var _ target.WritableMemory = (*memory)(nil)

func (m *memory) inner() target.WritableMemory {
	return m.process.target.Memory().(target.WritableMemory)
}

// ReadMemory implements [target.Memory].
func (m *memory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if err := m.process.ready(); err != nil {
		return 0, err
	}
	n, err = m.inner().ReadMemory(addr, p)
	for at, b := range m.process.breakpoints {
		b.each(at, addr, n, func(i, k int) { p[k] = b.original[i] })
	}
	return n, err
}

// WriteMemory implements [target.WritableMemory].
func (m *memory) WriteMemory(addr uint64, p []byte) (n int, err error) {
	if err := m.process.ready(); err != nil {
		return 0, err
	}
	data := p
	code := m.process.Arch().Control.Breakpoint
	for at, b := range m.process.breakpoints {
		b.each(at, addr, len(p), func(i, k int) {
			if &data[0] == &p[0] {
				data = append([]byte(nil), p...)
			}
			data[k] = code[i]
		})
	}
	n, err = m.inner().WriteMemory(addr, data)
	for at, b := range m.process.breakpoints {
		b.each(at, addr, n, func(i, k int) { b.original[i] = p[k] })
	}
	return n, err
}
