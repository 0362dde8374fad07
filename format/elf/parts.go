package elf

import (
	"debug/elf"
	"slices"
	"strings"
	"sync"
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
// For a part that the compiler has moved away (foo.cold), that is the address of the whole
// function's symbol (foo); for a linkage stub, the beginning of the stub. Without symbols, the
// parts of a function have entries of their own.
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

// wholes has the functions that parts belong to, as far as they were asked for.
type wholes struct {
	mu        sync.Mutex
	known     map[partKey]uint64    // addresses of functions; 0 where none is known
	namesakes map[string]*namesakes // by name
}

// partKey is a symbol of a part: its address and the offset of its name.
type partKey struct {
	addr uint64
	name uint32
}

// whole returns the address of the function that the symbol part belongs to, if it is one of a
// part. Of several (static) functions with the name, the one of the same source file counts. If the
// table does not tell the file, the global one counts, or the only one.
func (im *Image) whole(part Symbol) (addr uint64, ok bool) {
	w := &im.wholes
	w.mu.Lock()
	defer w.mu.Unlock()
	key := partKey{part.Addr, part.name}
	if _, known := w.known[key]; !known {
		if w.known == nil {
			w.known, w.namesakes = make(map[partKey]uint64), make(map[string]*namesakes)
		}
		w.known[key] = 0
		const most = 1 << 16 // bytes of a name
		ss, t := im.Symbols(), im.symbolTables().static
		if text, length := ss.Begin(part, most); length <= most && t != nil && ss.strings[part.table] == t.strings {
			if name, is := wholeName(text); is {
				w.find(t, key, text, name)
			}
		}
	}
	addr = w.known[key]
	return addr, addr != 0
}

// find finds the function called name that a part called text belongs to. If several functions have
// the name, it does so for all parts that are called text.
func (w *wholes) find(t *symbolTable, part partKey, text, name string) {
	of, known := w.namesakes[name]
	if !known {
		of = t.namesakes(name)
		w.namesakes[name] = of
	}
	if of.byFile == nil {
		w.known[part] = of.only
		return
	}
	for _, i := range t.called(text) {
		if r, ok := t.symbol(i); ok {
			w.known[partKey{r.addr, r.name}] = of.in(t.fileOf(i, &r))
		}
	}
}

// namesakes are the functions that have one name.
type namesakes struct {
	only   uint64         // the address if there is one function; 0 if there is none
	byFile map[int]uint64 // the addresses of several, by file; 0 where a file has more than one
}

// in returns the address of the function that a part in a file belongs to.
func (n *namesakes) in(file int) uint64 {
	if addr, ok := n.byFile[file]; ok {
		return addr
	}
	return n.byFile[0]
}

// namesakes returns the functions called name.
func (t *symbolTable) namesakes(name string) *namesakes {
	n := new(namesakes)
	list := slices.DeleteFunc(t.called(name), func(i int) bool {
		r, ok := t.symbol(i)
		if ok = ok && !r.undefined && r.isFunction(); ok {
			n.only = r.addr
		}
		return !ok
	})
	if len(list) <= 1 {
		return n
	}
	n.byFile = make(map[int]uint64)
	for _, i := range list {
		r, _ := t.symbol(i)
		file := t.fileOf(i, &r)
		if addr, twice := n.byFile[file]; !twice {
			n.byFile[file] = r.addr
		} else if addr != r.addr {
			n.byFile[file] = 0
		}
	}
	return n
}

type filesKey struct{}

// fileOf returns the number of the source file of a symbol, from 1; 0 if other files may use the
// symbol, or there is no room to know. Local symbols follow the name of their file.
func (t *symbolTable) fileOf(i int, r *rawSymbol) int {
	if !r.local() {
		return 0
	}
	files := t.im.Memo(filesKey{}, func() any {
		var list []int
		t.each(func(i int, r *rawSymbol) {
			if r.symType() == elf.STT_FILE {
				list = append(list, i)
			}
		})
		if n := int64(8 * len(list)); n > uncounted && !t.im.Reserve(n) {
			list = nil
		}
		return list
	}).([]int)
	n, _ := slices.BinarySearch(files, i)
	return 1 + n
}
