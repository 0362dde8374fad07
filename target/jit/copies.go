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

// chunk is how many bytes are read at once. Beyond what is readable, memory is not touched.
const chunk = 1 << 20

// read reads size bytes, which the caller bounds. If only the first ones are readable, read returns
// these with an error.
func (c *copies) read(addr, size uint64) (data []byte, err error) {
	data = make([]byte, size)
	at := uint64(0)
	for at < size && err == nil {
		n, got := min(size-at, chunk), 0
		if addr+at >= addr {
			got, err = c.mem.ReadMemory(addr+at, data[at:at+n])
		}
		if uint64(got) < n && err == nil {
			err = target.ErrUnmapped
		}
		at += uint64(got)
	}
	if at < size {
		data = slices.Clone(data[:at])
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
