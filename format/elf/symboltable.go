package elf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"sync"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// symbolTable is a symbol table of an image, with its strings. Those of a large program take up
// tens of megabytes, so they are read part by part, and not kept.
type symbolTable struct {
	im       *Image
	entries  part
	strings  *stringTable
	hash     part // a GNU hash table; empty if there is none
	versions part // .gnu.version; empty if there is none

	indexing sync.Mutex
	scans    int        // names that were looked up without a hash table
	names    *nameIndex // nil if they were few

	beforeOnce sync.Once
	before     []int
	beforeOK   bool
}

// part is a part of a file. Its size is 0 if there are no bytes.
type part struct {
	io.ReaderAt
	size int64
	data []byte // all bytes, if they are in memory
}

func inMemory(data []byte) part { return part{bytes.NewReader(data), int64(len(data)), data} }

// part returns a section's bytes. Few bytes are read at once, and so are bytes that expand or
// change.
func (im *Image) part(s *Section) (part, error) {
	plain := s.Flags&elf.SHF_COMPRESSED == 0 && s.Type != elf.SHT_NOBITS && !im.inMemory
	if plain && s.FileSize > elffile.HoleSize && s.FileSize <= im.most() && s.Offset <= uint64(im.size) && s.FileSize <= uint64(im.size)-s.Offset {
		return part{io.NewSectionReader(im.r, int64(s.Offset), int64(s.FileSize)), int64(s.FileSize), nil}, nil
	}
	data, err := im.SectionData(s)
	return inMemory(data), err
}

// windowSize is how many bytes of a part are read at once: whole symbols, and not less than a hole,
// which would not be seen.
const windowSize = (2*elffile.HoleSize/(symbolSize64*symbolSize32) + 1) * symbolSize64 * symbolSize32

// windows has the memory of windows that nobody reads.
var windows = sync.Pool{New: func() any { return new([]byte) }}

// each calls do with the part's bytes in order, and with the offset of the first of them. Behind
// the first, a call begins with the last overlap bytes of the call before. It ends at an error, or
// when do returns false.
func (p *part) each(overlap int, do func(off int64, b []byte) bool) error {
	if p.data != nil || p.size == 0 {
		do(0, p.data)
		return nil
	}
	window := windows.Get().(*[]byte)
	defer windows.Put(window)
	if len(*window) < windowSize+overlap {
		const usual = 256 // of overlaps: names are shorter
		*window = make([]byte, windowSize+max(overlap, usual))
	}
	buf := (*window)[:windowSize+overlap]
	have := 0 // bytes of the window before
	for off := int64(0); off < p.size; {
		n := int(min(int64(len(buf)-have), p.size-off))
		if got, err := p.ReadAt(buf[have:have+n], off); got < n {
			return err
		}
		if !do(off-int64(have), buf[:have+n]) {
			return nil
		}
		off += int64(n)
		keep := min(have+n, overlap)
		copy(buf, buf[have+n-keep:have+n])
		have = keep
	}
	return nil
}

// bytes reads n bytes at off; nil if they are not all there.
func (p *part) bytes(off, n int64) []byte {
	if off < 0 || n < 0 || off > p.size || n > p.size-off {
		return nil
	}
	if p.data != nil {
		return p.data[off : off+n]
	}
	b := make([]byte, n)
	if got, _ := p.ReadAt(b, off); int64(got) < n {
		return nil
	}
	return b
}

type symbolTablesKey struct{}

// foundTables are the symbol tables of an image.
type foundTables struct {
	list   []*symbolTable
	static *symbolTable // .symtab; nil if there is none
	err    error        // why one of them cannot be read; the last such error
}

// symbolTables returns the file's .symtab and .dynsym, if it has them.
func (im *Image) symbolTables() *foundTables {
	return im.Memo(symbolTablesKey{}, func() any {
		found := new(foundTables)
		for _, t := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
			table, err := im.openSymbolTable(t)
			if err != nil {
				found.err = err
			} else if table != nil {
				found.list = append(found.list, table)
				if t == elf.SHT_SYMTAB {
					found.static = table
				}
			}
		}
		return found
	}).(*foundTables)
}

// openSymbolTable returns the symbol table of a type, of which a file has at most one; nil if it
// has none.
func (im *Image) openSymbolTable(t elf.SectionType) (*symbolTable, error) {
	sections := im.ELF().Sections
	for i, s := range sections {
		if s.Type != t {
			continue
		}
		if uint64(s.Link) >= uint64(len(sections)) {
			return nil, nil
		}
		entries, err := im.part(s)
		if err != nil {
			return nil, err
		}
		text := sections[s.Link]
		strings, err := im.part(text)
		if err != nil {
			return nil, err
		}
		table := &symbolTable{im: im, entries: entries, strings: newStringTable(strings, func() ([]byte, error) { return im.SectionData(text) })}
		if t == elf.SHT_DYNSYM {
			for _, s := range sections {
				switch {
				case s.Type == elf.SHT_GNU_HASH && int(s.Link) == i:
					table.hash, _ = im.part(s)
				case s.Type == elf.SHT_GNU_VERSYM && int(s.Link) == i:
					table.versions, _ = im.part(s)
				}
			}
		}
		return table, nil
	}
	return nil, nil
}

// dynamicTable returns the symbol table to which PT_DYNAMIC leads; nil if there is none.
func (im *Image) dynamicTable() *symbolTable {
	entries, names, ok := im.dynamicSymbols()
	if !ok {
		return nil
	}
	return &symbolTable{im: im, entries: inMemory(entries), strings: newStringTable(inMemory(names), nil)}
}

// each calls do with the symbols in order.
func (t *symbolTable) each(do func(i int, r *rawSymbol)) error {
	size, i := t.im.symbolSize(), 0
	usual := t.im.Class == elf.ELFCLASS64 && t.im.Order == binary.LittleEndian && !t.im.rules.thumb
	var r rawSymbol
	return t.entries.each(0, func(_ int64, b []byte) bool {
		for ; len(b) >= size; b = b[size:] {
			if usual { // without calls: a large file has a million
				o := binary.LittleEndian
				r.name, r.info, r.undefined = o.Uint32(b), b[4], o.Uint16(b[6:]) == uint16(elf.SHN_UNDEF)
				r.addr, r.size = o.Uint64(b[8:]), o.Uint64(b[16:])
			} else {
				t.im.rawSymbol(b, &r)
			}
			do(i, &r)
			i++
		}
		return true
	})
}

// symbol reads the symbol of an index.
func (t *symbolTable) symbol(i int) (r rawSymbol, ok bool) {
	size := int64(t.im.symbolSize())
	b := t.entries.bytes(int64(i)*size, size)
	if b == nil {
		return r, false
	}
	t.im.rawSymbol(b, &r)
	return r, true
}

// old reports whether the symbol of an index has an old version.
func (t *symbolTable) old(i int) bool {
	const hidden = 0x8000 // in a word of .gnu.version: not the default
	b := t.versions.bytes(2*int64(i), 2)
	return b != nil && t.im.Order.Uint16(b)&hidden != 0
}

// rawSymbol is an entry of a symbol table.
type rawSymbol struct {
	addr, size uint64
	name       uint32
	info       uint8
	undefined  bool
}

func (r *rawSymbol) symType() elf.SymType { return elf.SymType(r.info & 15) }
func (r *rawSymbol) isFunction() bool {
	return r.symType() == elf.STT_FUNC || r.symType() == elf.STT_GNU_IFUNC
}
func (r *rawSymbol) local() bool { return elf.SymBind(r.info>>4) == elf.STB_LOCAL }

const symbolSize64, symbolSize32 = 24, 16

func (im *Image) symbolSize() int {
	if im.Class == elf.ELFCLASS32 {
		return symbolSize32
	}
	return symbolSize64
}

// rawSymbol decodes the first entry of table, which has symbolSize bytes or more.
func (im *Image) rawSymbol(table []byte, r *rawSymbol) {
	o := im.Order
	var shndx uint16
	if im.Class != elf.ELFCLASS32 {
		r.name, r.info, shndx = o.Uint32(table), table[4], o.Uint16(table[6:])
		r.addr, r.size = o.Uint64(table[8:]), o.Uint64(table[16:])
	} else {
		r.name, r.addr, r.size = o.Uint32(table), uint64(o.Uint32(table[4:])), uint64(o.Uint32(table[8:]))
		r.info, shndx = table[12], o.Uint16(table[14:])
	}
	r.undefined = shndx == uint16(elf.SHN_UNDEF)
	if typ := r.symType(); im.rules.thumb && (typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC) {
		r.addr &^= 1 // it says that the function is Thumb code
	}
}
