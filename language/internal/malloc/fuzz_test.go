package malloc

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
)

// FuzzFree reads what is in memory as heaps: one by brk, and the ones of arenas.
func FuzzFree(f *testing.F) {
	const base = heapMax
	chunks := func(at int, sizes ...uint64) []byte {
		b := make([]byte, 0x1000)
		for _, size := range sizes {
			binary.LittleEndian.PutUint64(b[at+sizeOf:], size)
			at += int(size &^ flags)
			binary.LittleEndian.PutUint64(b[at&0xfff:], size&^flags)
		}
		return b
	}
	f.Add(chunks(0, 0x291, 0x31, 0x41, 0x20, 0xce1))
	f.Add(chunks(0x20, 0x35, 0x44, 0x51, 0xf05))
	arena := chunks(0x30, 0x25, 0x41, 0xf70)
	binary.LittleEndian.PutUint64(arena[heapSize:], 0x1000)
	f.Add(arena)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		for _, lo := range []uint64{base, base + page} {
			list := []target.Mapping{{Lo: lo, Hi: lo + uint64(len(data)+page-1)&^(page-1)}}
			var addrs []uint64
			for at := lo; at < list[0].Hi; at += 48 {
				addrs = append(addrs, at)
			}
			bounds.Hold(t, len(data), func() { Free(amd64.Arch, memtest.Flat{Lo: lo, Data: data}, list, addrs) })
		}
	})
}
