package elfimage

import (
	"debug/elf"
	"slices"
)

// Objects returns the image's variables and other data: those symbols of .symtab and .dynsym that have a size. Their
// addresses are link-time ones.
func (im *Image) Objects() *Symbols {
	im.objectsOnce.Do(func() {
		ss := &Symbols{}
		any := false
		for _, t := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
			if table, names, ok := im.symbolTable(t); ok {
				ss.addObjects(im, table, names)
				any = true
			}
		}
		if !any {
			if table, names, ok := im.dynamicSymbols(); ok {
				ss.addObjects(im, table, names)
			}
		}
		byAddr(ss.list)
		ss.list = slices.CompactFunc(ss.list, func(a, b Symbol) bool { return a.Addr == b.Addr })
		const each = 24 // bytes
		if n := int64(each * len(ss.list)); n > uncounted && !im.Reserve(n) {
			ss = &Symbols{}
		}
		im.objects = ss
	})
	return im.objects
}

func (ss *Symbols) addObjects(im *Image, table, names []byte) {
	nth := uint8(len(ss.strings))
	ss.strings = append(ss.strings, names)
	for size := im.symbolSize(); len(table) >= size; table = table[size:] {
		r := im.rawSymbol(table)
		typ, bind := elf.SymType(r.info&15), elf.SymBind(r.info>>4)
		if r.undefined || r.size == 0 || typ != elf.STT_OBJECT || uint64(r.name) >= uint64(len(names)) || names[r.name] == 0 {
			continue
		}
		s := Symbol{Addr: r.addr, Size: min(r.size, ^uint64(0)-r.addr), name: r.name, table: nth}
		s.rank = rank(typ, bind, s.Size, names[r.name:])
		ss.list = append(ss.list, s)
	}
}
