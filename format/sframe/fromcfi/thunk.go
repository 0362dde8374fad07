package fromcfi

import (
	"debug/elf"

	"github.com/sfwalk/sfwalk/arch"
	_ "github.com/sfwalk/sfwalk/arch/amd64" // which has thunks
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe/object"
)

// thunksOf returns cfi.Options.Thunk for a file's code, nil if its processor has no thunks. The
// code of a relocatable object is where layout has it.
func thunksOf(im *elfimage.Image, layout object.Layout) func(addr uint64) bool {
	a := arch.ByMachine(im.Machine, im.Order)
	if a == nil {
		return nil
	}
	if im.Type != elf.ET_REL {
		return a.Thunks(im.ReadLoaded)
	}
	var last *elfimage.Section // one section's code is asked for after the other's
	var code []byte
	return a.Thunks(func(addr uint64, p []byte) int {
		for i, s := range im.ELF().Sections {
			if s.Flags&elf.SHF_EXECINSTR == 0 || s.Type == elf.SHT_NOBITS || addr < layout[i] || addr-layout[i] >= s.Size {
				continue
			}
			if s != last {
				last = s
				code, _ = im.SectionData(s)
			}
			return copy(p, code[min(addr-layout[i], uint64(len(code))):])
		}
		return 0
	})
}
