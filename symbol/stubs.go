package symbol

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// stubs are the entries of the procedure linkage table: code that jumps to a function of
// another module. They have no symbols. GDB shows them as "printf@plt".
type stubs struct {
	names []byte // string table
	list  []stub // ascending
}

// stub is an entry of the procedure linkage table, and the slot that it jumps through.
type stub struct {
	slot
	length uint32 // bytes
	lo     uint64
}

// slot is an entry of the global offset table. It holds the address of a symbol. If it has
// no name, it holds the address that the resolver of an IFUNC returns.
type slot struct {
	resolver uint64 // 0 for a symbol
	name     uint32 // offset in names
}

// readStubs reads the stubs of a file of any processor that has arch.Arch.StubSlot.
func readStubs(im *elfimage.Image) (*stubs, error) {
	sections := im.StubSections()
	a := arch.ByMachine(im.Machine, im.Order)
	if len(sections) == 0 || a == nil || a.StubSlot == nil || im.Class != a.Class() {
		return nil, nil
	}
	symbols, _, err := im.SectionType(elf.SHT_DYNSYM)
	if err != nil && !errors.Is(err, elfimage.ErrNoSection) {
		return nil, err
	}
	symbolSize := symbolSizes[im.Class] // the null symbol is first
	if len(symbols) < 2*symbolSize {
		return nil, nil // a static program: GDB does not name its stubs
	}
	s := &stubs{}
	if s.names, _, err = im.Section(".dynstr"); err != nil {
		return nil, err
	}
	slots := make(map[uint64]slot) // by address
	for _, name := range []string{".rela.plt", ".rela.dyn", ".rel.plt", ".rel.dyn"} {
		relocations, _, err := im.Section(name)
		if errors.Is(err, elfimage.ErrNoSection) {
			continue
		}
		if err != nil {
			return nil, err
		}
		readSlots(im, a, slots, im.Relocations(relocations, strings.HasPrefix(name, ".rela")), symbols)
	}
	got := uint64(0) // address of the global offset table
	if dynamic, _, err := im.SectionType(elf.SHT_DYNAMIC); err == nil {
		for tag, value := range im.Dynamic(dynamic) {
			if tag == elf.DT_PLTGOT {
				got = value
			}
		}
	}
	most := uint64(im.SizeOnDisk()) // of sections that do not overlap
	for _, section := range sections {
		if section.Size > most {
			break
		}
		most -= section.Size
		code, err := im.SectionData(section)
		if errors.Is(err, elfimage.ErrNoSection) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s.read(a, slots, code, section.Addr, got)
	}
	slices.SortFunc(s.list, func(x, y stub) int { return cmp.Compare(x.lo, y.lo) })
	return s, nil
}

// readSlots adds to slots the entries of the global offset table that relocations fill in.
func readSlots(im *elfimage.Image, a *arch.Arch, slots map[uint64]slot, relocations iter.Seq[elfimage.DynamicRelocation], symbols []byte) {
	symbolSize := symbolSizes[im.Class]
	for r := range relocations {
		switch r.Type {
		case a.Relocations.JumpSlot, a.Relocations.GlobDat:
			if n := int(r.Symbol); n > 0 && n < len(symbols)/symbolSize {
				slots[r.Addr] = slot{name: a.Order.Uint32(symbols[n*symbolSize:])}
			}
		case a.Relocations.IRelative:
			resolver := r.Addend
			if word := im.Loaded(r.Addr, im.WordSize()); r.InPlace && uint64(len(word)) == im.WordSize() {
				resolver = im.Word(word)
			}
			if resolver != 0 { // 0 would be a symbol's slot
				slots[r.Addr] = slot{resolver: resolver}
			}
		}
	}
}

// symbolSizes are the sizes of a symbol, bytes.
var symbolSizes = map[elf.Class]int{elf.ELFCLASS32: elf.Sym32Size, elf.ELFCLASS64: elf.Sym64Size}

// read adds the stubs of a section at address addr. The first one of a section, which binds
// symbols, jumps through a word that no relocation fills in.
func (s *stubs) read(a *arch.Arch, slots map[uint64]slot, code []byte, addr, got uint64) {
	const step = 4 // stubs begin at multiples of it
	for at := 0; at < len(code); {
		lo := addr + uint64(at)
		to, length, ok := a.StubSlot(code[at:], lo, got)
		if !ok {
			at += step
			continue
		}
		if slot, ok := slots[to]; ok {
			s.list = append(s.list, stub{slot: slot, length: uint32(length), lo: lo})
		}
		at += length
	}
}

// find returns the name of the stub that holds addr, where it begins, and the address behind it.
func (s *stubs) find(addr uint64) (name string, start, end uint64, ok bool) {
	if s == nil {
		return "", 0, 0, false
	}
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].lo > addr }) - 1
	if i < 0 || addr-s.list[i].lo >= uint64(s.list[i].length) {
		return "", 0, 0, false
	}
	name, ok = s.name(s.list[i].slot)
	return name, s.list[i].lo, s.list[i].lo + uint64(s.list[i].length), ok
}

// name returns the name of a stub that jumps through an entry of the global offset table.
func (s *stubs) name(to slot) (name string, ok bool) {
	if to.resolver != 0 {
		return fmt.Sprintf("*ABS*+%#x@plt", to.resolver), true
	}
	name, ok = stringAt(s.names, uint64(to.name))
	return name + "@plt", ok && name != ""
}

// stringAt returns the string at an offset of a string section.
func stringAt(section []byte, off uint64) (s string, ok bool) {
	if off > uint64(len(section)) {
		return "", false
	}
	r := dwarfdata.New(section[off:], nil)
	s = r.String()
	return s, !r.Bad
}
