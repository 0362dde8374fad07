package elfimage

import (
	"debug/elf"
	"slices"
	"strings"
)

// partSuffixes are the suffixes that compilers and linkers give a part that they move away from its
// function: gcc's and LLVM's unlikely code, BOLT's, and LLVM's sections for blocks. A number may
// follow. foo.part.0, foo.isra.0 and foo.constprop.0 are not parts but functions.
var partSuffixes = []string{".cold", ".warm", ".__part"}

// wholeName returns the function's name (foo) for the symbol of a part of it (foo.cold).
func wholeName(name string) (whole string, ok bool) {
	end := strings.TrimRight(name, "0123456789")
	if end = strings.TrimSuffix(end, "."); len(end) == len(name)-1 {
		end = name // a dot, and no number
	}
	for _, suffix := range partSuffixes {
		for _, s := range []string{name, end} {
			if whole, ok = strings.CutSuffix(s, suffix); ok && whole != "" {
				return whole, true
			}
		}
	}
	return "", false
}

// FunctionEntry returns the entry of the function that has code at addr: the address of its symbol.
// For a part that the compiler has moved away (foo.cold), that is the address of the whole function's
// symbol (foo); for a linkage stub, the beginning of the stub. Without symbols, the parts of a function
// have entries of their own.
func (im *Image) FunctionEntry(addr uint64) (entry uint64, ok bool) {
	ss := im.Symbols()
	s, ok := ss.Find(addr)
	if !ok {
		entry, _, ok = im.Stub(addr)
		return entry, ok
	}
	if entry, found := im.whole(s); found {
		return entry, true
	}
	return s.Addr, true
}

// whole returns the address of the function that the symbol part belongs to, if it is one of a
// part. Of several (static) functions with the name, the one of the same source file counts. If the
// table does not tell the file, the global one counts, or the only one.
func (im *Image) whole(part Symbol) (addr uint64, ok bool) {
	im.wholesMu.Lock()
	defer im.wholesMu.Unlock()
	addr, known := im.wholes[part.Addr]
	if !known {
		if im.wholes == nil {
			im.wholes = make(map[uint64]uint64)
		}
		const most = 1 << 16 // bytes of a name
		if text, length := im.Symbols().Begin(part, most); length <= most {
			if name, is := wholeName(text); is {
				addr = im.findWhole(part, name)
			}
		}
		im.wholes[part.Addr] = addr
	}
	return addr, addr != 0
}

func (im *Image) findWhole(part Symbol, name string) uint64 {
	table, err := im.openSymbolTable(elf.SHT_SYMTAB)
	if err != nil || table == nil {
		return 0
	}
	type candidate struct {
		addr uint64
		file int // 0 if other files may use it
	}
	var list []candidate
	names := table.strings.offsetsOf(name)
	file, partFile := 1, 0 // local symbols follow the name of their file
	table.each(func(_ int, r *rawSymbol) {
		switch r.symType() {
		case elf.STT_FILE:
			file++
			return
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		default:
			return
		}
		if r.local() && r.addr == part.Addr && r.name == part.name {
			partFile = file
		}
		if _, is := slices.BinarySearch(names, r.name); r.undefined || !is {
			return
		}
		c := candidate{r.addr, file}
		if !r.local() {
			c.file = 0
		}
		list = append(list, c)
	})
	for _, f := range []int{partFile, 0} {
		var found []uint64
		for _, c := range list {
			if c.file == f && !slices.Contains(found, c.addr) {
				found = append(found, c.addr)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			return 0 // there are no names of files
		}
	}
	if len(list) == 1 {
		return list[0].addr
	}
	return 0
}
