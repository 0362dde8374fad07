package elf

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// FuzzSparse opens files with sections of any size that are holes. Such sections take up no room on
// the disk, and must take up none in memory.
func FuzzSparse(f *testing.F) {
	const at = 1 << 20 // where the holes begin
	var files []*elftest.File
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_S390} {
		order := binary.AppendByteOrder(binary.LittleEndian)
		if machine == elf.EM_S390 {
			order = binary.BigEndian
		}
		files = append(files, elftest.Program(elf.ELFCLASS64, order, machine, elf.ET_DYN))
	}
	for i := range files[0].Sections {
		for _, size := range []uint64{1 << 16, 0x7fffffe8, 200 << 30} {
			f.Add(uint8(i+1), uint8(i+1), uint8(i&1), size, size)
		}
		f.Add(uint8(i+1), uint8(i), uint8(i&1), uint64(64<<20), uint64(1<<30))
	}
	file, err := os.Create(filepath.Join(f.TempDir(), "sparse"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { file.Close() })
	f.Fuzz(func(t *testing.T, first, second, which uint8, size, size2 uint64) {
		of := files[int(which)%len(files)]
		order := of.Order.(binary.ByteOrder)
		data := of.Bytes()
		headers, end := order.Uint64(data[40:]), uint64(at)
		for _, s := range []struct {
			section uint8
			size    uint64
		}{{first, size}, {second, size2}} {
			h := data[headers+uint64(s.section)%uint64(len(of.Sections)+1)*64:]
			s.size %= 1 << 42
			order.PutUint64(h[24:], end)
			order.PutUint64(h[32:], s.size)
			end += s.size
		}
		if _, err := file.WriteAt(append(data, make([]byte, 32<<10-len(data))...), 0); err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(int64(end)); err != nil {
			t.Fatal(err)
		}
		bounds.Hold(t, 16<<20, func() {
			if im, err := Open(file, int64(end)); err == nil {
				useImage(im, int(first))
				useImage(im, int(second))
			}
		})
	})
}
