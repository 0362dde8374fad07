package elfimage

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Symbol is a function of an image. Addresses are link-time ones.
type Symbol struct {
	Addr, Size uint64
	// Type and Old are filled in by [Image.Lookup] and [Image.LookupPrefix] alone. Old says that the symbol has an
	// old version, which programs do not get that are linked now.
	Type elf.SymType
	Old  bool

	name  uint32 // offset into the string table
	table uint8
	rank  uint8 // smaller is the better name for the same address
}

// Symbols holds the functions of an image, by address.
type Symbols struct {
	list    []Symbol // ascending by Addr, one each
	strings [][]byte
}

const symbolSize64, symbolSize32 = 24, 16

// Symbols returns the image's functions: those of .symtab and .dynsym. If the section headers are
// stripped, PT_DYNAMIC leads to them.
func (im *Image) Symbols() *Symbols {
	im.symsOnce.Do(func() {
		ss := &Symbols{}
		code := im.codeRanges()
		for _, t := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
			table, names, err := im.readSymbolTable(t)
			if err == nil && table != nil {
				ss.add(im, code, table, names)
			}
			if errors.Is(err, ErrBudget) {
				im.symsErr = err
			}
		}
		if len(ss.list) == 0 {
			if table, names, ok := im.dynamicSymbols(); ok {
				ss.add(im, code, table, names)
			}
		}
		ss.sort(code)
		const each = 24 // bytes
		if n := int64(each * len(ss.list)); n > uncounted && !im.Reserve(n) {
			ss, im.symsErr = &Symbols{}, fmt.Errorf("keep %d symbols: %w", len(ss.list), ErrBudget)
		}
		im.syms = ss
	})
	return im.syms
}

// SymbolsError says why [Image.Symbols] has left out a symbol table. It is nil if Symbols has all.
func (im *Image) SymbolsError() error {
	im.Symbols()
	return im.symsErr
}

// Lookup returns the symbols called name, functions and data, in the order of the symbol tables,
// without duplicates; at most max of them. name is the file's own (mangled), and not empty.
func (im *Image) Lookup(name string, max int) []Symbol {
	var found []Symbol
	im.eachNamed(name+"\x00", isCodeOrData, func(_ []byte, s Symbol) {
		if !slices.Contains(found, s) {
			found = append(found, s)
		}
	})
	return found[:min(len(found), max)]
}

// LookupPrefix returns the symbols, functions and data, whose names begin with prefix: by name, the
// first of each name; at most max of them.
func (im *Image) LookupPrefix(prefix string, max int) map[string]Symbol {
	found := make(map[string]Symbol)
	im.eachNamed(prefix, isCodeOrData, func(names []byte, s Symbol) {
		end := bytes.IndexByte(names, 0)
		if end < 0 || len(found) == max {
			return
		}
		if _, twice := found[string(names[:end])]; !twice {
			found[string(names[:end])] = s
		}
	})
	return found
}

// ThreadLocal returns the thread-local variable called name: its Addr is the distance from the beginning of the file's
// thread-local storage, of which each thread has one.
func (im *Image) ThreadLocal(name string) (s Symbol, ok bool) {
	is := func(t elf.SymType) bool { return t == elf.STT_TLS }
	im.eachNamed(name+"\x00", is, func(_ []byte, found Symbol) {
		if !ok {
			s, ok = found, true
		}
	})
	return s, ok
}

// isCodeOrData reports whether symbols of a type have addresses.
func isCodeOrData(t elf.SymType) bool {
	return t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC || t == elf.STT_OBJECT || t == elf.STT_NOTYPE
}

// eachNamed calls do with each symbol of the types that are asked for, if the bytes from the start of its name on begin
// with want. do gets these bytes, too.
func (im *Image) eachNamed(want string, is func(t elf.SymType) bool, do func(names []byte, s Symbol)) {
	any := false
	each := func(table, names, versions []byte) {
		for i := 0; len(table) >= im.symbolSize(); i, table = i+1, table[im.symbolSize():] {
			r := im.rawSymbol(table)
			if r.undefined || uint64(r.name) >= uint64(len(names)) || !bytes.HasPrefix(names[r.name:], []byte(want)) {
				continue
			}
			if !is(elf.SymType(r.info & 15)) {
				continue
			}
			any = true
			const hidden = 0x8000 // in a word of .gnu.version: not the default
			old := 2*i+2 <= len(versions) && im.Order.Uint16(versions[2*i:])&hidden != 0
			do(names[r.name:], Symbol{Addr: r.addr, Size: min(r.size, ^uint64(0)-r.addr), Type: elf.SymType(r.info & 15), Old: old})
		}
	}
	for _, t := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if table, names, ok := im.symbolTable(t); ok {
			var versions []byte
			if t == elf.SHT_DYNSYM {
				versions, _, _ = im.SectionType(elf.SHT_GNU_VERSYM)
			}
			each(table, names, versions)
		}
	}
	if !any {
		if table, names, ok := im.dynamicSymbols(); ok {
			each(table, names, nil)
		}
	}
}

// symbolTable returns a file's symbol table of type t and its strings. A file has at most one
// of each type.
func (im *Image) symbolTable(t elf.SectionType) (table, names []byte, ok bool) {
	table, names, err := im.readSymbolTable(t)
	return table, names, err == nil && table != nil
}

// readSymbolTable is symbolTable with the reason why a table cannot be read. A table that is not there
// is no error.
func (im *Image) readSymbolTable(t elf.SectionType) (table, names []byte, err error) {
	sections := im.ELF().Sections
	for _, s := range sections {
		if s.Type != t {
			continue
		}
		if uint64(s.Link) >= uint64(len(sections)) {
			return nil, nil, nil
		}
		if table, err = im.SectionData(s); err != nil {
			return nil, nil, err
		}
		names, err = im.SectionData(sections[s.Link])
		return table, names, err
	}
	return nil, nil, nil
}

// codeRange is one section or segment of code. A symbol that lies before it does not name its code.
type codeRange struct{ lo, hi uint64 }

// codeRanges returns the file's executable sections, or its segments if it has no sections, in ascending
// order.
func (im *Image) codeRanges() []codeRange {
	var code []codeRange
	for _, s := range im.ELF().Sections {
		const flags = elf.SHF_ALLOC | elf.SHF_EXECINSTR
		if s.Flags&flags == flags && s.Size > 0 && s.Addr+s.Size > s.Addr {
			code = append(code, codeRange{s.Addr, s.Addr + s.Size})
		}
	}
	if len(code) == 0 {
		for _, p := range im.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr+p.Memsz > p.Vaddr {
				code = append(code, codeRange{p.Vaddr, p.Vaddr + p.Memsz})
			}
		}
	}
	slices.SortFunc(code, func(a, b codeRange) int { return cmp.Compare(a.lo, b.lo) })
	return code
}

// codeEnd returns the end of the code that addr lies in.
func codeEnd(code []codeRange, addr uint64) (end uint64, ok bool) {
	i, found := slices.BinarySearchFunc(code, addr, func(c codeRange, a uint64) int { return cmp.Compare(c.lo, a) })
	if !found {
		i--
	}
	if i < 0 || addr >= code[i].hi {
		return 0, false
	}
	return code[i].hi, true
}

// rawSymbol is an entry of a symbol table.
type rawSymbol struct {
	addr, size uint64
	name       uint32
	info       uint8
	undefined  bool
}

func (im *Image) symbolSize() int {
	if im.Class == elf.ELFCLASS32 {
		return symbolSize32
	}
	return symbolSize64
}

// rawSymbol decodes the first entry of table, which has symbolSize bytes or more.
func (im *Image) rawSymbol(table []byte) (r rawSymbol) {
	r.name = im.Order.Uint32(table)
	var shndx uint16
	if im.Class != elf.ELFCLASS32 {
		r.info, shndx = table[4], im.Order.Uint16(table[6:])
		r.addr, r.size = im.Order.Uint64(table[8:]), im.Order.Uint64(table[16:])
	} else {
		r.addr, r.size = uint64(im.Order.Uint32(table[4:])), uint64(im.Order.Uint32(table[8:]))
		r.info, shndx = table[12], im.Order.Uint16(table[14:])
	}
	r.undefined = shndx == uint16(elf.SHN_UNDEF)
	if typ := elf.SymType(r.info & 15); im.Machine == elf.EM_ARM && (typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC) {
		r.addr &^= 1 // it says that the function is Thumb code
	}
	return r
}

func (ss *Symbols) add(im *Image, code []codeRange, table, names []byte) {
	size := im.symbolSize()
	nth := uint8(len(ss.strings))
	ss.strings = append(ss.strings, names)
	ss.list = slices.Grow(ss.list, len(table)/size/2)
	for ; len(table) >= size; table = table[size:] {
		r := im.rawSymbol(table)
		name := r.name
		s := Symbol{Addr: r.addr, Size: r.size}
		typ, bind := elf.SymType(r.info&15), elf.SymBind(r.info>>4)
		if r.undefined || uint64(name) >= uint64(len(names)) || names[name] == 0 {
			continue
		}
		switch typ {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		case elf.STT_NOTYPE:
			// Assembly labels in code are functions. Mapping symbols ($x, $d) and local labels are not.
			if _, ok := codeEnd(code, s.Addr); !ok || names[name] == '$' || names[name] == '.' || s.Addr == 0 {
				continue
			}
		default:
			continue
		}
		s.Size = min(s.Size, ^uint64(0)-s.Addr)
		s.name, s.table = name, nth
		s.rank = rank(typ, bind, s.Size, names[name:])
		ss.list = append(ss.list, s)
	}
}

// rank orders the names of one address; the smallest is the best. A function with a size comes before a
// label, a global name before a local one, and then the name with the fewest underscores in front:
// "write", not "__libc_write".
func rank(typ elf.SymType, bind elf.SymBind, size uint64, name []byte) uint8 {
	r := uint8(0)
	for r < 3 && int(r) < len(name) && name[r] == '_' {
		r++
	}
	if bind == elf.STB_LOCAL {
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

// sort orders the symbols. A symbol without a size gets the code up to the next
// symbol, but not beyond its section. sort leaves out a symbol within another function
// (a label in assembly), as GDB prefers the function's name.
func (ss *Symbols) sort(code []codeRange) {
	byAddr(ss.list)
	ss.list = slices.CompactFunc(ss.list, func(a, b Symbol) bool { return a.Addr == b.Addr })
	keep := ss.list[:0]
	covered := uint64(0) // end of the functions so far that have a size
	for i, s := range ss.list {
		if s.Size > 0 {
			covered = max(covered, s.Addr+s.Size)
		} else {
			end, ok := codeEnd(code, s.Addr)
			if !ok || s.Addr < covered {
				continue
			}
			if i+1 < len(ss.list) {
				end = min(end, ss.list[i+1].Addr)
			}
			s.Size = end - s.Addr
		}
		keep = append(keep, s)
	}
	ss.list = slices.Clip(keep)
}

// byAddr sorts symbols by address, and for one address the better name first. The symbols
// of most libraries are sorted digit by digit, the least significant first. That takes a fifth of
// the time of a sort by comparison.
func byAddr(list []Symbol) {
	const few, many, digit = 64, 1 << 16, 11
	if len(list) < few || len(list) > many {
		slices.SortFunc(list, func(a, b Symbol) int {
			if a.Addr != b.Addr {
				return cmp.Compare(a.Addr, b.Addr)
			}
			return byName(a, b)
		})
		return
	}
	all := uint64(0) // bits that are set somewhere
	for i := range list {
		all |= list[i].Addr
	}
	from, to := list, make([]Symbol, len(list))
	for shift := 0; shift < 64 && all>>shift != 0; shift += digit {
		var place [1 << digit]int32
		for i := range from {
			place[from[i].Addr>>shift%(1<<digit)]++
		}
		sum := int32(0)
		for i, n := range place {
			place[i], sum = sum, sum+n
		}
		for i := range from {
			d := from[i].Addr >> shift % (1 << digit)
			to[place[d]] = from[i]
			place[d]++
		}
		from, to = to, from
	}
	copy(list, from)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Addr == list[0].Addr {
			n++
		}
		slices.SortFunc(list[:n], byName)
		list = list[n:]
	}
}

// byName compares symbols of one address.
func byName(a, b Symbol) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.table, b.table), cmp.Compare(a.name, b.name))
}

// Len returns the number of functions.
func (ss *Symbols) Len() int { return len(ss.list) }

// At returns the i-th function in ascending order of address.
func (ss *Symbols) At(i int) Symbol { return ss.list[i] }

// Find returns the function that covers addr: the nearest one that begins at or
// before addr, unless it ends before addr.
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
	name, _ := ss.Begin(s, math.MaxInt)
	return name
}

// Begin returns at most the first most bytes of a symbol's name, and the length of the whole name.
// Names that overlap may together be much longer than the file.
func (ss *Symbols) Begin(s Symbol, most int) (name string, length int) {
	b := ss.strings[s.table][s.name:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b[:min(most, len(b))]), len(b)
}
