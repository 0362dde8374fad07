package snapshot

import (
	"sort"

	"github.com/sfwalk/sfwalk/target"
)

// memory is a core file's memory. Parts of it, late, may be of a later moment.
type memory struct {
	target.CopiedMemory
	late []lateNote // ascending, disjoint
}

// ascending drops each entry that begins before the end of one that precedes it. Write writes no
// such.
func ascending(list []lateNote) (kept []lateNote) {
	at := uint64(0)
	for _, l := range list {
		if l.Size > 0 && uint64(l.Address) >= at && l.end() > uint64(l.Address) {
			kept, at = append(kept, l), l.end()
		}
	}
	return kept
}

// find returns the index of the first entry of late that ends above addr, and whether it holds
// addr.
func (m *memory) find(addr uint64) (i int, holds bool) {
	i = sort.Search(len(m.late), func(i int) bool { return m.late[i].end() > addr })
	return i, i < len(m.late) && uint64(m.late[i].Address) <= addr
}

// MovedOn implements [target.RunningMemory].
func (m *memory) MovedOn(addr uint64, n int) bool {
	i, _ := m.find(addr)
	return i < len(m.late) && uint64(m.late[i].Address) <= addr+uint64(n)-1
}

// Window implements [target.CopiedMemory]. It does not lend memory of a later moment.
func (m *memory) Window(addr uint64) (lo uint64, data []byte) {
	i, holds := m.find(addr)
	if holds {
		return 0, nil
	}
	lo, data = m.CopiedMemory.Window(addr)
	if i < len(m.late) {
		data = data[:min(uint64(len(data)), uint64(m.late[i].Address)-lo)]
	}
	if i > 0 && m.late[i-1].end() > lo {
		end := m.late[i-1].end()
		lo, data = end, data[min(uint64(len(data)), end-lo):]
	}
	return lo, data
}
