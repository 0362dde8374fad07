package target

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// FuzzModule maps files that may be malicious, and asks for functions and stubs.
func FuzzModule(f *testing.F) {
	for _, exec := range []bool{true, false} {
		f.Add(elftest.Program(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64, elf.ET_DYN).Mapped(), uint16(0x1000), exec)
	}
	f.Fuzz(func(t *testing.T, data []byte, offset uint16, exec bool) {
		im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		mappings := []Mapping{{Lo: 0x1000, Hi: 0x3000, Offset: uint64(offset), Exec: exec}, {Lo: 0x3000, Hi: 0x5000}}
		bounds.Hold(t, 96<<20+256*len(data), func() {
			m := NewModule("/small", mappings, func() (*elfimage.Image, error) { return im, nil })
			for addr := m.Lo(); addr < m.Hi(); addr += 256 {
				m.Function(addr)
				m.FunctionEntry(addr)
				m.Stub(addr)
			}
		})
	})
}
