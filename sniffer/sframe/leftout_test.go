package sframe

import (
	"bytes"
	"debug/elf"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
)

// TestLeftOut: an SFrame section for which no memory is left is not said to be missing.
func TestLeftOut(t *testing.T) {
	for name, want := range map[string]any{".sframe": leftOut, ".data": noSection} {
		f := &elftest.File{Class: elf.ELFCLASS64, Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{
			{Name: name, Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Addr: 0x1000, Align: 8, Data: bytes.Repeat([]byte{1}, 1<<20)}}}
		data := f.Bytes()
		im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		im.Join(new(elfimage.Budget))
		for im.Reserve(1 << 16) { // until nothing is left
		}
		if why := newSection(*unwindtables.SFrameIn(im, amd64.Arch)).why; why != want {
			t.Errorf("%s: %v", name, why)
		}
	}
}
