package command

import (
	"sort"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// notedReads is a memory that notes what is read of it.
type notedReads struct {
	target.Memory
	ranges []live.Range
	size   int // bytes, of all ranges
}

// ReadMemory implements [target.Memory].
func (m *notedReads) ReadMemory(addr uint64, p []byte) (int, error) {
	if m.size+len(p) <= parkedTotal {
		m.size += len(p)
		m.ranges = append(m.ranges, live.Range{Lo: addr, Hi: addr + uint64(len(p))})
	}
	return m.Memory.ReadMemory(addr, p)
}

// copied is a memory of which a part was copied.
type copied struct {
	target.Memory
	list []live.Copy // ascending
	last int         // where the last read was
}

func newCopied(m target.Memory, list []live.Copy) *copied { return &copied{Memory: m, list: list} }

// ReadMemory implements [target.Memory].
func (m *copied) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		i := m.last
		for k := 0; ; k++ { // mostly the next one
			if i < len(m.list) && at-m.list[i].Lo < uint64(len(m.list[i].Data)) {
				break
			}
			if i++; k == 2 || i >= len(m.list) {
				i = sort.Search(len(m.list), func(i int) bool { return m.list[i].Lo > at }) - 1
				break
			}
		}
		if i < 0 || at-m.list[i].Lo >= uint64(len(m.list[i].Data)) {
			more, err := m.Memory.ReadMemory(at, p[n:])
			return n + more, err
		}
		m.last = i
		n += copy(p[n:], m.list[i].Data[at-m.list[i].Lo:])
	}
	return n, nil
}
