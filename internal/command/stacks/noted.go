package stacks

import (
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/target"
)

// notedPage is the size of the pages that a notedMemory notes, bytes.
const notedPage = 4096

// maxNoted bounds their number.
const maxNoted = 1 << 16

// notedMemory notes the pages that are read.
type notedMemory struct {
	target.Memory

	mu    sync.Mutex
	pages map[uint64]bool
}

// ReadMemory implements [target.Memory].
func (m *notedMemory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	n, err = m.Memory.ReadMemory(addr, p)
	if n > 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		for at, last := addr&^(notedPage-1), addr+uint64(n)-1; at <= last && len(m.pages) < maxNoted; at += notedPage {
			m.pages[at] = true
			if at+notedPage < at {
				break
			}
		}
	}
	return n, err
}

// read returns the addresses of the pages, ascending.
func (m *notedMemory) read() (list []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := range m.pages {
		list = append(list, at)
	}
	slices.Sort(list)
	return list
}

// notedSource is a source whose memory notes what is read.
type notedSource struct {
	report.Source
	memory *notedMemory
}

// Memory returns the noted memory.
func (s notedSource) Memory() target.Memory { return s.memory }

// OneMoment implements [report.Momentary].
func (s notedSource) OneMoment() bool { return report.OneMoment(s.Source) }

// Languages implements [report.Decorated]: what languages said when the file was made is better
// than what they say of the memory that it has.
func (s notedSource) Languages(th target.Thread) []byte {
	if from, ok := s.Source.(report.Decorated); ok {
		return from.Languages(th)
	}
	return nil
}
