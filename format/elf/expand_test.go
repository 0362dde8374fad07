package elf_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// packed is a section with n bytes, compressed by zlib behind the header Elf64_Chdr.
func packed(name string, n int) elftest.Section {
	order := binary.LittleEndian
	b := bytes.NewBuffer(order.AppendUint64(order.AppendUint64(order.AppendUint64(nil, uint64(elf.COMPRESS_ZLIB)), uint64(n)), 1))
	w := zlib.NewWriter(b)
	w.Write(make([]byte, n))
	w.Close()
	return elftest.Section{Name: name, Flags: elf.SHF_COMPRESSED, Data: b.Bytes()}
}

// TestManyCompressed: what each section may expand to, all may not: a file of some kilobytes could
// have any number of megabytes in as many sections. A section that is read again counts once.
func TestManyCompressed(t *testing.T) {
	const size = 3 << 20
	f := elftest.File{Class: elf.ELFCLASS64, Machine: elf.EM_X86_64, Type: elf.ET_DYN}
	for _, name := range []string{".debug_info", ".debug_line", ".debug_str"} {
		f.Sections = append(f.Sections, packed(name, size))
	}
	data := f.Bytes()
	honest := append(bytes.Clone(data), bytes.Repeat([]byte{1}, size/16)...) // of a size that has so much debug information
	for _, tt := range []struct {
		data    []byte
		on      int64 // bytes on disk that have become data
		sizes   [3]int
		whether string
	}{
		{data, int64(len(data)), [3]int{size, 0, 0}, "small"},
		{honest, int64(len(honest)), [3]int{size, size, size}, "large"},
		{honest, int64(len(data)), [3]int{size, 0, 0}, "unpacked from a small one"},
	} {
		im, err := elfimage.OpenUnpacked(bytes.NewReader(tt.data), int64(len(tt.data)), tt.on)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for i, s := range f.Sections {
				if got, _, err := im.Section(s.Name); len(got) != tt.sizes[i] || (err == nil) != (tt.sizes[i] > 0) {
					t.Errorf("%s: section %s has %d bytes, want %d: %v", tt.whether, s.Name, len(got), tt.sizes[i], err)
				}
			}
		}
	}
}
