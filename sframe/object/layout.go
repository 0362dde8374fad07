package object

import (
	"debug/elf"

	"github.com/sfwalk/sfwalk/elfimage"
)

// A Layout has the link-time address of each section of a file, by index.
type Layout []uint64

// AsLinked returns the addresses that the file has: the final ones, or 0 for
// every section of a relocatable object.
func AsLinked(im *elfimage.Image) Layout {
	f := im.ELF()
	l := make(Layout, len(f.Sections))
	for i, s := range f.Sections {
		l[i] = s.Addr
	}
	return l
}

// firstAddr is where Apart puts the first section: not at 0, which stands for no
// address elsewhere.
const firstAddr = 0x1000

// Apart returns addresses at which no two sections overlap: for a relocatable
// object, one behind the other as a linker lays them out, the allocated ones
// first and those without bytes after them; for any other file those that it has.
func Apart(im *elfimage.Image) Layout {
	l := AsLinked(im)
	if im.Type != elf.ET_REL {
		return l
	}
	next := uint64(firstAddr)
	for group := range 3 {
		for i, s := range im.ELF().Sections {
			if s.Type == elf.SHT_NULL || group != groupOf(s) {
				continue
			}
			// Whatever size a header claims, the addresses stay apart as
			// far as 64 bits go; nothing is read for them.
			align := s.Addralign
			if align == 0 || align&(align-1) != 0 || align > 1<<20 {
				align = 1
			}
			next = (next + align - 1) &^ (align - 1)
			l[i] = next
			next += min(s.Size, 1<<40) + 1 // one apart, so that an end is no start
		}
	}
	return l
}

// groupOf returns 0 for the sections that Apart lays out first, and so on.
func groupOf(s *elf.Section) int {
	switch {
	case s.Flags&elf.SHF_ALLOC == 0:
		return 2
	case s.Type == elf.SHT_NOBITS:
		return 1
	}
	return 0
}
