package cpp

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Addresses of the memory that is read, and of functions of coroutines.
const (
	fuzzBase    = 0x7f0000000000
	fuzzResume  = 0x1000
	fuzzDestroy = 0x1040
	fuzzOther   = 0x1080
)

// fuzzProgram is a program with two coroutines, whose promises lead on in each way.
func fuzzProgram() *program {
	m := target.NewModule("program", []target.Mapping{{Lo: fuzzResume, Hi: fuzzResume + 0x1000}}, nil)
	r := &program{arch: amd64.Arch, modules: target.NewModules([]*target.Module{m}, nil), coroutines: map[uint64]*coroutine{}, destroys: map[uint64][]*coroutine{}}
	promise := &value.Type{Kind: value.Struct, Size: 24}
	for i, at := range []uint64{fuzzResume, fuzzOther} {
		c := &coroutine{gcc: true, resume: span{at, at + 0x40}, name: "f", layout: &layout{
			size: 64 + 16*uint64(i), promise: place{16, promise}, index: part{40, 2, ^uint64(0)},
			handles: []uint64{16}, behind: []reference{{24, []uint64{0, 8}}, {32, nil}},
			points: map[uint64]point{2: {"f.cc", 1}, 4: {"f.cc", 2}},
		}}
		r.coroutines[at] = c
		r.destroys[fuzzDestroy] = append(r.destroys[fuzzDestroy], c)
	}
	return r
}

// FuzzTasks reads what is in memory as coroutines.
func FuzzTasks(f *testing.F) {
	seed := func(number uint64, handle, counter, promise int) []byte {
		b := make([]byte, 0x200)
		put := func(at int, n uint64) { binary.LittleEndian.PutUint64(b[at:], n) }
		for i := range 4 { // coroutines that wait for each other
			at := 0x80 * i
			put(at, []uint64{fuzzResume, fuzzOther, 0, fuzzResume}[i])
			put(at+8, fuzzDestroy)
			put(at+16, fuzzBase+uint64(handle*i%0x200))
			put(at+24, fuzzBase+uint64(counter))
			put(at+32, fuzzBase+uint64(promise))
			put(at+40, number)
			put(at+0x70, fuzzBase+uint64(at))
		}
		return b
	}
	f.Add(seed(2, 0x80, 0x60, 0x90))
	f.Add(seed(4, 0x100, 0x10, 0x110))
	f.Add(seed(9, 0x180, 0x70, 0))
	through := seed(2, 0, 0x1a0, 0) // behind a continuation of Seastar is the coroutine at 0x80
	for i, n := range []uint64{fuzzOther, 0, fuzzBase + 0x90, fuzzBase + 0x98, fuzzBase + 0x80} {
		binary.LittleEndian.PutUint64(through[0x1a0+8*i:], n)
	}
	f.Add(through)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		r := fuzzProgram()
		bounds.Hold(t, 4<<20+400*len(data), func() {
			x := r.newTasks(memtest.Flat{Lo: fuzzBase, Data: data})
			defer x.Free()
			list := []target.Mapping{{Lo: fuzzBase, Hi: fuzzBase + uint64(len(data)) + 4096}}
			x.search(list)
			x.await(false)
			x.leads(list)
			x.await(true)
			frames := 0
			for _, task := range x.made() {
				frames += len(task.Frames)
			}
			if frames > len(x.list) {
				t.Errorf("%d frames of %d coroutines", frames, len(x.list))
			}
		})
	})
}
