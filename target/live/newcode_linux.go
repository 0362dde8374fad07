package live

import (
	"sort"
	"sync"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// newCode knows the code that a process maps after its list of mappings was read: threads run on
// meanwhile, and a compiler at run time may map code for them at any moment. Threads of one moment
// may have to be read again at a later one.
type newCode struct {
	files *files

	mu    sync.Mutex
	known []procmaps.Mapping // as they were read last, ascending
	left  int                // how often they are read once more, at most
}

// maxNewCode is how often a list of mappings is read once more for code that it lacks.
const maxNewCode = 16

// has reports whether there is code at an address. What could not be read when the list was read
// last, and can be now, has the list read once more: run times reserve addresses for code long
// before they use them.
func (c *newCode) has(addr uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, read := mappingAt(c.known, addr), c.files.fetch
	if before != nil {
		if before.Read || before.Write || before.Exec {
			return before.Exec
		}
		read = c.files.fetchByID // the other way reads what the process itself cannot
	}
	var room [1]byte
	if c.left == 0 {
		return false
	}
	if n, _ := read(addr, room[:]); n == 0 {
		return false
	}
	c.left--
	maps, err := c.files.mapsOf(c.files.proc.pid)
	if err != nil {
		return false
	}
	c.known = maps
	m := mappingAt(maps, addr)
	return m != nil && m.Exec
}

// mappingAt returns the mapping of an ascending list that holds addr, nil if none does.
func mappingAt(maps []procmaps.Mapping, addr uint64) *procmaps.Mapping {
	i := sort.Search(len(maps), func(i int) bool { return maps[i].Hi > addr })
	if i < len(maps) && maps[i].Lo <= addr {
		return &maps[i]
	}
	return nil
}
