package elf

import (
	"debug/elf"
	"strings"
)

// stubs is a section of linkage stubs.
type stubs struct {
	lo, hi uint64
	first  uint64 // length of the first stub, which binds
	size   uint64 // of the others; 0 if it is not known
}

// StubSections returns the sections of linkage stubs (procedure linkage tables). Linkers mark them
// by their names.
func (im *Image) StubSections() []*Section {
	var list []*Section
	for _, s := range im.ELF().Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 && s.Addr+s.Size >= s.Addr &&
			(strings.HasPrefix(s.Name, ".plt") || strings.HasPrefix(s.Name, ".iplt")) {
			list = append(list, s)
		}
	}
	return list
}

// linkage returns the sections of linkage stubs, with the lengths of their stubs.
func (im *Image) linkage() []stubs {
	im.stubsOnce.Do(func() {
		for _, s := range im.StubSections() {
			x := stubs{s.Addr, s.Addr + s.Size, s.Entsize, s.Entsize}
			r := im.ELF().Section(".rela" + s.Name)
			if r == nil {
				r = im.ELF().Section(".rel" + s.Name)
			}
			if s.Entsize == 0 && r != nil && r.Entsize > 0 {
				x.first, x.size = stubSizes(s.Size, r.Size/r.Entsize)
			}
			if x.size < minStub {
				x.size = 0
			}
			im.stubs = append(im.stubs, x)
		}
	})
	return im.stubs
}

const minStub, maxStub = 8, 32 // bytes

// stubSizes works out the lengths of the stubs of a section that does not state them (arm64's
// sections, and sections of static programs). The section has size bytes: a first stub, unless
// first is 0, and n of each bytes. Both are 0 if no such lengths fill the section.
func stubSizes(size, n uint64) (first, each uint64) {
	for _, first := range []uint64{32, 16, 0, 48} { // 48: with a thunk
		if n == 0 || size <= first || (size-first)%n != 0 {
			continue
		}
		if each := (size - first) / n; each >= minStub && each <= maxStub && each%minStub == 0 {
			return first, each
		}
	}
	return 0, 0
}

// StubSection returns the range [lo, hi) of the section of linkage stubs that holds addr.
func (im *Image) StubSection(addr uint64) (lo, hi uint64, ok bool) {
	for _, x := range im.linkage() {
		if addr-x.lo < x.hi-x.lo {
			return x.lo, x.hi, true
		}
	}
	return 0, 0, false
}

// Stub returns the range [lo, hi) of the linkage stub (entry of the procedure linkage table) that
// holds addr. A file calls a function of another file through a stub.
func (im *Image) Stub(addr uint64) (lo, hi uint64, ok bool) {
	for _, x := range im.linkage() {
		off := addr - x.lo
		switch {
		case off >= x.hi-x.lo || x.size == 0:
			continue
		case off < x.first:
			return x.lo, x.lo + x.first, true
		}
		lo = x.lo + x.first + (off-x.first)/x.size*x.size
		return lo, lo + x.size, true
	}
	return 0, 0, false
}
