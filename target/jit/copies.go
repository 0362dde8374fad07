package jit

import (
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// copies reads memory, and keeps what it has read.
type copies struct {
	mem  target.Memory
	drop bool // keep nothing

	mu   sync.Mutex
	kept []target.Copy
}

// chunk is how many bytes are read at once, so that a false size allocates at most that much more
// than is readable.
const chunk = 1 << 20

// read reads size bytes. If only the first ones are readable, read returns these with an error.
func (c *copies) read(addr, size uint64) (data []byte, err error) {
	data = make([]byte, 0, min(size, chunk))
	for at := uint64(0); at < size && err == nil; at = uint64(len(data)) {
		n := min(size-at, chunk)
		data = slices.Grow(data, int(n))[:at+n]
		got := 0
		if addr+at >= addr {
			got, err = c.mem.ReadMemory(addr+at, data[at:])
		}
		if uint64(got) < n && err == nil {
			err = target.ErrUnmapped
		}
		data = data[:at+uint64(got)]
	}
	if len(data) > 0 && !c.drop {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kept = append(c.kept, target.Copy{Addr: addr, Data: data})
	}
	return data, err
}

func (c *copies) list() []target.Copy {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.kept)
}
