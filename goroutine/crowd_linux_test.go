package goroutine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/target"
)

// crowd is the memory of a process that claims to have n goroutines. Each has its own struct m,
// whose curg names it. A real process needs only one page for that, mapped over and over.
type crowd struct {
	*recorded
	found *Runtime
	g     []byte // a struct g
	n     uint64
}

// Addresses at which the crowd's pointers, structs g and structs m begin.
const (
	crowdList = 1 << 40
	crowdG    = 2 << 40
	crowdM    = 3 << 40
)

func (c *crowd) Memory() target.Memory { return c }

func (c *crowd) ReadMemory(addr uint64, p []byte) (int, error) {
	size := uint64(len(c.g))
	word := func(v uint64) (int, error) {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], v)
		return copy(p, w[:]), nil
	}
	switch {
	case addr == c.found.allgs:
		for i, w := range []uint64{crowdList, c.n, c.n} {
			binary.LittleEndian.PutUint64(p[8*i:], w)
		}
		return len(p), nil
	case addr >= crowdM && len(p) == 8: // its curg
		return word(crowdG + (addr-crowdM-uint64(c.found.fields.Curg))/procidRange*size)
	case addr >= crowdM:
		clear(p)
		return len(p), nil
	case addr >= crowdG:
		for at := 0; at < len(p); {
			i, off := (addr+uint64(at)-crowdG)/size, (addr+uint64(at)-crowdG)%size
			binary.LittleEndian.PutUint64(c.g[c.found.fields.status+goid:], i+1)
			binary.LittleEndian.PutUint64(c.g[c.found.fields.M:], crowdM+i*procidRange)
			at += copy(p[at:], c.g[off:])
		}
		return len(p), nil
	case addr >= crowdList:
		for at := 0; at+8 <= len(p); at += 8 {
			binary.LittleEndian.PutUint64(p[at:], crowdG+(addr+uint64(at)-crowdList)/8*size)
		}
		return len(p), nil
	}
	return c.recorded.ReadMemory(addr, p)
}

// All takes a bounded amount of memory, however many goroutines and threads a process claims. Its
// error tells of the goroutines that it leaves out.
func TestCrowd(t *testing.T) {
	r, found, _ := record(t)
	list, err := found.All()
	if err != nil {
		t.Fatal(err)
	}
	g := make([]byte, found.fields.size)
	for _, x := range list {
		if x.Parked() {
			r.ReadMemory(x.G, g)
		}
	}
	for _, tt := range []struct {
		n     uint64
		limit int
	}{{1000, 0}, {1000, 1000}, {1000, 999}, {maxGoroutines, 0}} {
		n, now := tt.n, *found
		now.t, now.Limit = &crowd{r, found, bytes.Clone(g), n}, tt.limit
		bounds.Hold(t, 192<<20, func() { list, err = now.All() })
		t.Logf("%d: %d goroutines, %v", n, len(list), err)
		if want := min(n, uint64(cmp.Or(tt.limit, defaultLimit))); uint64(len(list)) != want || (err != nil) != (n > want) || err != nil && !errors.Is(err, ErrUnknown) {
			t.Errorf("of %d goroutines %d are listed, %v: want %d", n, len(list), err, want)
		}
	}
}
