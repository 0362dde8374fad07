package target

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// bytesAt is memory that has some bytes from an address on, and no more.
type bytesAt struct {
	base uint64
	data []byte
}

func (b bytesAt) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < b.base || addr-b.base >= uint64(len(b.data)) {
		return 0, ErrUnmapped
	}
	if n := copy(p, b.data[addr-b.base:]); n < len(p) {
		return n, ErrUnmapped
	}
	return len(p), nil
}

// FuzzUnpacked looks up code of no file, with what may be the headers of a program before it. A
// module has no more than that code.
func FuzzUnpacked(f *testing.F) {
	seed := elftest.Program(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64, elf.ET_DYN).Mapped()
	for pages := range uint8(3) {
		f.Add(seed, pages)
	}
	f.Fuzz(func(t *testing.T, data []byte, pages uint8) {
		const base = 0x10000
		code := Mapping{Lo: base + uint64(pages)*unpackedPage, Exec: true}
		code.Hi = code.Lo + 4*unpackedPage
		bounds.Hold(t, 96<<20+256*len(data), func() {
			ms := NewModules(nil, []Mapping{code})
			ms.Memory = bytesAt{base, data}
			for addr := code.Lo - unpackedPage; addr < code.Hi+unpackedPage; addr += unpackedPage / 2 {
				m := ms.Find(addr)
				if m == nil {
					continue
				}
				if m.Lo() != code.Lo || m.Hi() > code.Hi || addr < m.Lo() || addr >= m.Hi() {
					t.Fatalf("%#x is in [%#x, %#x), code is at [%#x, %#x)", addr, m.Lo(), m.Hi(), code.Lo, code.Hi)
				}
				m.Function(addr)
				m.Stub(addr)
			}
		})
	})
}
