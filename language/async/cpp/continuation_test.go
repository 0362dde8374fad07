package cpp

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
)

// TestContinuation: of two handles in a promise, the one counts whose coroutine has the address of
// this one in its frame; if neither has, both count. Two coroutines follow the one that is asked
// about, at 0x80 and 0x100.
func TestContinuation(t *testing.T) {
	for _, tt := range []struct {
		name string
		back []int // the coroutines that lead back
		want []uint64
	}{
		{"one leads back", []int{0x100}, []uint64{fuzzBase + 0x100}},
		{"both lead back", []int{0x80, 0x100}, []uint64{fuzzBase + 0x80, fuzzBase + 0x100}},
		{"none leads back", nil, []uint64{fuzzBase + 0x80, fuzzBase + 0x100}},
	} {
		b := make([]byte, 0x200)
		put := func(at int, n uint64) { binary.LittleEndian.PutUint64(b[at:], n) }
		for _, at := range []int{0, 0x80, 0x100} {
			put(at, fuzzResume)
			put(at+8, fuzzDestroy)
			put(at+40, 4)
			put(0x180+at/0x10, fuzzBase+uint64(at)) // something leads to it
		}
		put(16, fuzzBase+0x80)
		put(24, fuzzBase+0x100)
		for _, at := range tt.back {
			put(at+48, fuzzBase)
		}
		r := fuzzProgram()
		for _, c := range r.coroutines {
			c.layout.handles, c.layout.behind = []uint64{16, 24}, nil
		}
		x := r.newTasks(memtest.Flat{Lo: fuzzBase, Data: b})
		list := []target.Mapping{{Lo: fuzzBase, Hi: fuzzBase + uint64(len(b))}}
		x.search(list)
		x.leads(list)
		x.await(true)
		var got []uint64
		for i := range x.list {
			if x.list[i].at == fuzzBase {
				for _, j := range x.list[i].waiters {
					got = append(got, x.list[j].at)
				}
			}
		}
		if len(got) != len(tt.want) || got[0] != tt.want[0] || got[len(got)-1] != tt.want[len(tt.want)-1] {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
		x.Free()
	}
}
