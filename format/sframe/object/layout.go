package object

import (
	"debug/elf"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// A Layout has the link-time address of each section of a file, by index.
type Layout []uint64

// AsLinked returns the addresses in the file: the final ones, or 0 for every section of a
// relocatable object.
func AsLinked(im *elfimage.Image) Layout {
	f := im.ELF()
	l := make(Layout, len(f.Sections))
	for i, s := range f.Sections {
		l[i] = s.Addr
	}
	return l
}

// firstAddr is the address of the first section in Apart. It is not 0, which elsewhere stands for
// no address.
const firstAddr = 0x1000

// Apart returns addresses at which no two sections overlap. It lays out a relocatable object's
// sections one behind the other, as a linker does: first the allocated ones with bytes, then the
// allocated ones without, then the rest. For any other file it returns the addresses in the file.
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
			// Whatever size a header claims, the addresses stay apart as far as 64 bits go. The
			// layout reads no section.
			align := s.Addralign
			if align == 0 || align&(align-1) != 0 || align > 1<<20 {
				align = 1
			}
			next = (next + align - 1) &^ (align - 1)
			l[i] = next
			next += min(s.Size, 1<<40) + 1 // a gap of one, so that no section's end is another's start
		}
	}
	return l
}

// groupOf returns 0 for the sections that Apart lays out first, 1 and 2 for those after them.
func groupOf(s *elfimage.Section) int {
	switch {
	case s.Flags&elf.SHF_ALLOC == 0:
		return 2
	case s.Type == elf.SHT_NOBITS:
		return 1
	}
	return 0
}
