package target

import (
	"bytes"
	"cmp"
	"debug/elf"
	"slices"
)

// Symbol is a function of an image. Addresses are link-time ones.
type Symbol struct {
	Addr, Size uint64
	name       uint32 // offset into the string table
	table      uint8
	rank       uint8 // smaller is the better name for the same address
}

// Symbols are the functions of an image, found by address.
type Symbols struct {
	list    []Symbol // ascending by Addr, one each
	strings [][]byte
}

const symbolSize64, symbolSize32 = 24, 16

// Symbols returns the image's functions: .symtab's and .dynsym's, or, where
// section headers are stripped, what PT_DYNAMIC points to.
func (im *Image) Symbols() *Symbols {
	im.symsOnce.Do(func() {
		ss := &Symbols{}
		for _, t := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
			for _, s := range im.file.Sections {
				if s.Type != t || int(s.Link) >= len(im.file.Sections) {
					continue
				}
				table, err := im.sectionData(s)
				if err != nil {
					continue
				}
				if names, err := im.sectionData(im.file.Sections[s.Link]); err == nil {
					ss.add(im, table, names)
				}
			}
		}
		if len(ss.list) == 0 {
			if table, names, ok := im.dynamicSymbols(); ok {
				ss.add(im, table, names)
			}
		}
		ss.sort()
		im.syms = ss
	})
	return im.syms
}

func (ss *Symbols) add(im *Image, table, names []byte) {
	size := symbolSize64
	if im.Class == elf.ELFCLASS32 {
		size = symbolSize32
	}
	nth := uint8(len(ss.strings))
	ss.strings = append(ss.strings, names)
	ss.list = slices.Grow(ss.list, len(table)/size/2)
	for ; len(table) >= size; table = table[size:] {
		var s Symbol
		var info uint8
		var shndx uint16
		name := im.Order.Uint32(table)
		if size == symbolSize64 {
			info, shndx = table[4], im.Order.Uint16(table[6:])
			s.Addr, s.Size = im.Order.Uint64(table[8:]), im.Order.Uint64(table[16:])
		} else {
			s.Addr, s.Size = uint64(im.Order.Uint32(table[4:])), uint64(im.Order.Uint32(table[8:]))
			info, shndx = table[12], im.Order.Uint16(table[14:])
		}
		typ, bind := elf.SymType(info&15), elf.SymBind(info>>4)
		if shndx == uint16(elf.SHN_UNDEF) || int(name) >= len(names) || names[name] == 0 {
			continue
		}
		switch typ {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		case elf.STT_NOTYPE:
			// Assembly labels are functions where they lie in code; mapping symbols
			// ($x, $d) and local labels are not.
			if names[name] == '$' || names[name] == '.' || !im.inCode(s.Addr) || s.Addr == 0 {
				continue
			}
		default:
			continue
		}
		s.name, s.table = name, nth
		s.rank = rank(typ, bind, s.Size, nth)
		ss.list = append(ss.list, s)
	}
}

// rank prefers, among names of one address, a function with a size, global
// before weak before local (what gdb shows), .symtab before .dynsym.
func rank(typ elf.SymType, bind elf.SymBind, size uint64, table uint8) uint8 {
	r := table & 1
	switch bind {
	case elf.STB_GLOBAL:
	case elf.STB_WEAK:
		r += 2
	default:
		r += 4
	}
	if size == 0 {
		r += 8
	}
	if typ == elf.STT_NOTYPE {
		r += 16
	}
	return r
}

func (ss *Symbols) sort() {
	slices.SortFunc(ss.list, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.rank, b.rank))
	})
	ss.list = slices.CompactFunc(ss.list, func(a, b Symbol) bool { return a.Addr == b.Addr })
	// A symbol without a size reaches to the next one.
	for i := range ss.list {
		if ss.list[i].Size == 0 && i+1 < len(ss.list) {
			ss.list[i].Size = ss.list[i+1].Addr - ss.list[i].Addr
		}
	}
	ss.list = slices.Clip(ss.list)
}

// Len returns how many functions there are.
func (ss *Symbols) Len() int { return len(ss.list) }

// At returns the i-th function in ascending order of address.
func (ss *Symbols) At(i int) Symbol { return ss.list[i] }

// Find returns the function that covers addr: the nearest one that begins at or
// before it, unless its size ends before addr.
func (ss *Symbols) Find(addr uint64) (Symbol, bool) {
	i, found := slices.BinarySearchFunc(ss.list, addr, func(s Symbol, a uint64) int { return cmp.Compare(s.Addr, a) })
	if !found {
		i--
	}
	// An alias or a nested label may end early while an earlier function still
	// covers addr; a few steps back suffice for real files.
	for n := 0; i >= 0 && n < 8; i, n = i-1, n+1 {
		if s := ss.list[i]; addr-s.Addr < s.Size {
			return s, true
		}
	}
	return Symbol{}, false
}

// Name returns a symbol's name as the file has it (mangled).
func (ss *Symbols) Name(s Symbol) string {
	b := ss.strings[s.table][s.name:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (im *Image) inCode(addr uint64) bool {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr-p.Vaddr < p.Memsz {
			return true
		}
	}
	return false
}
