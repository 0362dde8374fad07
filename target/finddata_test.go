package target

import (
	"debug/elf"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// TestFindData finds zeros behind the mapped part of a segment, and nothing behind the segment.
func TestFindData(t *testing.T) {
	image := func() (*elfimage.Image, error) {
		return &elfimage.Image{Progs: []elf.ProgHeader{{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Vaddr: 0x1000, Filesz: 0x1000, Memsz: 0x3000}}}, nil
	}
	m := NewModule("/program", []Mapping{{Lo: 0x401000, Hi: 0x402000}}, image)
	ms := NewModules([]*Module{m}, nil)
	for addr, want := range map[uint64]*Module{0x400fff: nil, 0x401000: m, 0x402000: m, 0x403fff: m, 0x404000: nil, 0x501000: nil} {
		if got := ms.FindData(addr); got != want {
			t.Errorf("%#x: %v, want %v", addr, got, want)
		}
	}
	if m := (*Modules)(nil).FindData(1); m != nil {
		t.Error(m)
	}
}
