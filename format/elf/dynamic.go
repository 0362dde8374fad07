package elf

import (
	"bytes"
	"debug/elf"
)

// dynamicSymbols finds the dynamic symbol table and its strings through
// PT_DYNAMIC, for files without section headers. Only the hash tables tell the
// number of symbols.
func (im *Image) dynamicSymbols() (table, names []byte, ok bool) {
	dyn, _, err := im.Segment(elf.PT_DYNAMIC)
	if err != nil {
		return nil, nil, false
	}
	var symtab, strtab, strsz, hash, gnuhash uint64
	for tag, v := range im.Dynamic(dyn) {
		switch tag {
		case elf.DT_SYMTAB:
			symtab = v
		case elf.DT_STRTAB:
			strtab = v
		case elf.DT_STRSZ:
			strsz = v
		case elf.DT_HASH:
			hash = v
		case elf.DT_GNU_HASH:
			gnuhash = v
		}
	}
	for _, at := range []*uint64{&symtab, &strtab, &hash, &gnuhash} {
		if *at != 0 && !im.holds(*at) {
			*at -= im.slid
		}
	}
	n := uint64(0)
	if hash != 0 {
		// nbucket, and nchain, which is the number of symbols.
		if im.rules.wideHash && im.Class == elf.ELFCLASS64 {
			if b := im.Loaded(hash, 16); len(b) == 16 { // its entries have 8 bytes
				n = im.Order.Uint64(b[8:])
			}
		} else if b := im.Loaded(hash, 8); len(b) == 8 {
			n = uint64(im.Order.Uint32(b[4:]))
		}
	}
	if n == 0 && gnuhash != 0 {
		n = im.gnuHashSymbols(gnuhash)
	}
	if n == 0 || symtab == 0 || strtab == 0 {
		return nil, nil, false
	}
	if n > uint64(im.size) {
		return nil, nil, false
	}
	table = im.Loaded(symtab, n*uint64(im.symbolSize()))
	names = im.Loaded(strtab, strsz)
	return table, names, table != nil && names != nil
}

// holds reports whether the file has bytes for a link-time address.
func (im *Image) holds(addr uint64) bool {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && addr-p.Vaddr < p.Filesz {
			return true
		}
	}
	return false
}

// gnuHashSymbols returns one more than the highest symbol index that a GNU hash
// table reaches: the end of the longest chain.
func (im *Image) gnuHashSymbols(addr uint64) uint64 {
	b := im.Loaded(addr, uint64(im.size))
	if len(b) < 16 {
		return 0
	}
	buckets, first, bloom := uint64(im.Order.Uint32(b)), uint64(im.Order.Uint32(b[4:])), uint64(im.Order.Uint32(b[8:]))
	at := 16 + bloom*im.WordSize()
	chains := at + buckets*4
	if chains > uint64(len(b)) {
		return 0
	}
	last := uint64(0)
	for i := uint64(0); i < buckets; i++ {
		last = max(last, uint64(im.Order.Uint32(b[at+4*i:])))
	}
	if last < first {
		return first
	}
	for ; ; last++ {
		c := chains + (last-first)*4
		if c+4 > uint64(len(b)) || im.Order.Uint32(b[c:])&1 != 0 {
			return last + 1
		}
	}
}

// SOName returns the name that a library gives itself (DT_SONAME); "" if it has none, or the name
// cannot be read.
func (im *Image) SOName() string {
	dyn, _, err := im.Segment(elf.PT_DYNAMIC)
	if err != nil {
		return ""
	}
	var name, strtab uint64
	for tag, v := range im.Dynamic(dyn) {
		switch tag {
		case elf.DT_SONAME:
			name = v
		case elf.DT_STRTAB:
			strtab = v
		}
	}
	if name == 0 || strtab == 0 {
		return ""
	}
	if !im.holds(strtab) {
		strtab -= im.slid
	}
	const longest = 4096
	text, _, whole := bytes.Cut(im.Loaded(strtab+name, longest), []byte{0})
	if !whole {
		return ""
	}
	return string(text)
}
