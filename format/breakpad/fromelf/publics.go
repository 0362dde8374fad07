package fromelf

import (
	"cmp"
	"debug/elf"
	"errors"
	"slices"
	"sort"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// public is a symbol of the linker's.
type public struct {
	addr     uint64
	name     uint32 // number in Dump.names
	order    uint32
	multiple bool
}

// publics returns the functions of the symbol tables, by address: of an address, the first. Like
// dump_syms, it reads .symtab of each file, and .dynsym of one that has none; then
// .gnu_debugdata's, which dump_syms does not know.
func (d *Dump) publics() []public {
	var list []public
	for _, im := range d.sources() {
		var err error
		if list, err = d.appendPublics(list, im); err != nil {
			d.warn(nil, err)
		}
	}
	slices.SortFunc(list, func(a, b public) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.order, b.order)) })
	kept := list[:0]
	for _, p := range list {
		if n := len(kept); n > 0 && kept[n-1].addr == p.addr {
			kept[n-1].multiple = d.opts.Multiple
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

func (d *Dump) appendPublics(list []public, im *elfimage.Image) ([]public, error) {
	table, strings := symbolTable(im, ".symtab", elf.SHT_SYMTAB)
	if table == nil {
		table, strings = symbolTable(im, ".dynsym", elf.SHT_DYNSYM)
	}
	if table == nil {
		return list, nil
	}
	data, err := im.SectionData(table)
	if err != nil {
		return list, err
	}
	text, err := im.SectionData(strings)
	if err != nil {
		return list, err
	}
	c := dwarfdata.New(data, im.Order)
	var name []byte
	left := 4*len(text) + 1<<20 // symbols may share their strings
	for {
		var at, value uint64
		var info uint8
		var section uint16
		if im.Class == elf.ELFCLASS64 {
			at, info = uint64(c.U32()), c.U8()
			c.U8()
			section, value = c.U16(), c.U64()
			c.U64()
		} else {
			at, value = uint64(c.U32()), uint64(c.U32())
			c.U32()
			info = c.U8()
			c.U8()
			section = c.U16()
		}
		if c.Bad {
			return list, nil
		}
		if elf.ST_TYPE(info) != elf.STT_FUNC || elf.SectionIndex(section) == elf.SHN_UNDEF || !d.holds(value) {
			continue
		}
		s := textAt(text, at)
		if left -= len(s); left < 0 {
			return list, errors.New("symbol table: names overlap too much")
		}
		kind := byte(plainName)
		if len(s) > 2 && s[0] == '_' && s[1] == 'Z' {
			kind = mangledName
		}
		name = append(append(name[:0], kind), s...)
		list = append(list, public{addr: value, name: d.names.number(name), order: uint32(len(list))})
	}
}

// symbolTable returns a symbol table and its strings; nil if they are not both there.
func symbolTable(im *elfimage.Image, name string, t elf.SectionType) (table, strings *elfimage.Section) {
	sections := im.ELF().Sections
	for _, s := range sections {
		if s.Name == name && s.Type == t && int(s.Link) < len(sections) && sections[s.Link].Type == elf.SHT_STRTAB {
			return s, sections[s.Link]
		}
	}
	return nil, nil
}

// withoutFunctions leaves out the symbols of functions, which have a record that says more. list is
// in any order.
func (d *Dump) withoutFunctions(publics []public, list []found, readable []string) []public {
	gone := make([]bool, len(publics))
	find := func(addr uint64) int {
		i := sort.Search(len(publics), func(i int) bool { return publics[i].addr >= addr })
		if i < len(publics) && publics[i].addr == addr && !gone[i] {
			return i
		}
		return -1
	}
	first := make(map[int]int) // by symbol: the function that takes its place
	for k := range list {
		f := &list[k]
		i := find(f.addr)
		if i < 0 && d.arch.AddressMask&1 == 0 && f.addr&1 == 0 { // the symbol of Thumb code
			i = find(f.addr | 1)
		}
		if i < 0 {
			continue
		}
		if old, ok := first[i]; !ok || f.unit < list[old].unit {
			first[i] = k
		}
	}
	for i, k := range first {
		f, ext := &list[k], readable[publics[i].name]
		if d.opts.Multiple {
			name := readable[f.name]
			f.multiple = f.multiple || publics[i].multiple || ext != name && name != omitted && !strings.Contains(ext, name)
		}
		gone[i] = true
	}
	kept := publics[:0]
	for i, p := range publics {
		if !gone[i] {
			kept = append(kept, p)
		}
	}
	return kept
}
