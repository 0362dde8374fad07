package target

import (
	"debug/elf"
	"fmt"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// Packers (UPX), and loaders of other kinds, put a whole program into memory of no file, as the
// kernel would have mapped it: with its headers, and with the tables and symbols that are loaded.

const (
	unpackedPage   = 0x1000
	unpackedSearch = 64      // pages before executable memory that are searched for the headers of its program
	maxUnpacked    = 1 << 32 // bytes that such a program has at most
)

// unpacked returns the module of a program that is in memory of no file, if its headers say that
// its code begins where c does; else nil.
func (ms *Modules) unpacked(mem Memory, c Mapping) *Module {
	var magic [len(elf.ELFMAG)]byte
	for i := range uint64(unpackedSearch) {
		base := c.Lo&^(unpackedPage-1) - i*unpackedPage
		if mem == nil || base > c.Lo {
			break
		}
		if n, _ := mem.ReadMemory(base, magic[:]); n < len(magic) {
			break
		}
		if string(magic[:]) == elf.ELFMAG {
			if m := ms.unpackedAt(mem, base, c); m != nil {
				return m
			}
		}
	}
	return nil
}

// unpackedAt is unpacked for a program whose headers are at base.
func (ms *Modules) unpackedAt(mem Memory, base uint64, c Mapping) *Module {
	const page = unpackedPage - 1
	im, err := elfimage.OpenMapped(mem, base, maxUnpacked)
	if err != nil {
		return nil
	}
	bias := base - firstLoaded(im)
	for _, p := range im.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || p.Filesz > maxUnpacked {
			continue
		}
		lo, hi := p.Vaddr&^page+bias, (p.Vaddr+p.Filesz+page)&^page+bias
		if lo != c.Lo || hi <= lo || hi > c.Hi {
			continue
		}
		at := Mapping{Lo: lo, Hi: hi, Offset: p.Off &^ page, Exec: true}
		m := &Module{Path: fmt.Sprintf("[elf %#x]", base), Mappings: []Mapping{at}, placed: true}
		m.once.Do(func() { m.image, m.bias = im, bias })
		im.Join(ms.budget)
		return m
	}
	return nil
}
