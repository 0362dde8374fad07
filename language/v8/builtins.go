package v8

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
)

// builtins are the functions that V8 is built with and that are no C++: its interpreter, the ways
// in and out of JavaScript, the functions of the language. A file has symbols of them, unless it is
// stripped. But each isolate has a table of where they begin, and V8 one of their names, in the
// same order.
type builtins struct {
	mu    sync.Mutex
	asked bool      // they are known, or cannot be
	tries int       // how often a stack was searched in vain
	list  []builtin // ascending
	text  map[uint64]string
}

// builtin is one of them.
type builtin struct {
	lo   uint64 // where it begins, in the file
	name uint64 // the address of its name
}

// Bounds of the tables.
const (
	builtinAlign    = 16
	farthestBuiltin = 16 << 20 // bytes from another one
	fewestBuiltins  = 1 << 10
	mostBuiltins    = 1 << 13
	mostBuiltin     = 1 << 18 // bytes of one
	mostBuiltinKind = 1 << 5
	namedWords      = 3                                     // of an entry of the table of names: the name, the kind, and more
	namesStep       = 8 * namedWords * (fewestBuiltins - 4) // bytes: the table has at least so many
	mostNamesSteps  = 1 << 14
	mostNamesTries  = 1 << 4
	mostSearches    = 64
	lastBuiltins    = "ExtraWideHandler"
	builtinBegin    = "Builtins_" // of a symbol
)

// nameBuiltins gives the frames of builtin functions the names that their symbols have, if the file
// has no symbols.
func (w *walk) nameBuiltins() {
	b := &w.engine.builtins
	for level, f := range w.stack.Frames {
		m := f.Module()
		if m == nil || m.Doubted() || m.Registered() || !w.mayBe(f) {
			continue
		}
		w.seekBuiltins()
		if _, bias, err := m.PeekImage(); err == nil {
			b.mu.Lock()
			name := b.at(w.heap, f.AddressInBlock()-bias)
			b.mu.Unlock()
			if name != "" {
				w.name(level, builtinBegin+name)
			}
		}
	}
}

// isBuiltin reports whether a frame, which is of a module, is a builtin function's.
func (w *walk) isBuiltin(f *frame.Frame) bool {
	_, bias, err := f.Module().PeekImage()
	if err != nil {
		return false
	}
	w.seekBuiltins()
	b := &w.engine.builtins
	b.mu.Lock()
	defer b.mu.Unlock()
	at, n := f.AddressInBlock()-bias, len(b.list)
	return n > 0 && at >= b.list[0].lo && at < b.list[n-1].lo+mostBuiltin
}

// seekBuiltins finds the functions, unless they are known, or this stack does not lead to them.
func (w *walk) seekBuiltins() {
	b := &w.engine.builtins
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked && !w.sought {
		w.sought = true
		w.findBuiltins()
	}
}

// findBuiltins finds the functions, if the stack leads to an isolate.
func (w *walk) findBuiltins() {
	h, b := w.reader(), &w.engine.builtins
	defer h.Err()
	var starts []uint64
	is := func(at uint64) bool {
		if h.Uint(at+isolateSelf, 8) == at && h.OK() {
			starts = h.builtinStarts(at)
		}
		h.Err()
		return starts != nil
	}
	for _, f := range w.stack.Frames {
		if root := f.Register(amd64.R13); root.Known() && is(root.Bits-rootBias) {
			break
		}
	}
	if sp, end, ok := w.span(); starts == nil && ok && b.tries < mostSearches {
		b.tries++
		h.pointers(sp, end, is)
	}
	if len(starts) == 0 {
		return
	}
	m := w.modules.Find(starts[0]) // the functions may be a copy
	if m == nil || m.Path != w.path {
		return
	}
	_, bias, err := m.PeekImage()
	if err != nil {
		return
	}
	b.asked = true
	for i, name := range w.builtinNames(h, len(starts)) {
		b.list = append(b.list, builtin{starts[i] - bias, name})
	}
	slices.SortFunc(b.list, func(x, y builtin) int { return cmp.Compare(x.lo, y.lo) })
}

// at returns the name of the function at an address in the file, "" if it is not known. Where the
// last one ends is not known.
func (b *builtins) at(h *heap, addr uint64) string {
	i, found := slices.BinarySearchFunc(b.list, addr, func(x builtin, addr uint64) int { return cmp.Compare(x.lo, addr) })
	if !found {
		i--
	}
	if i < 0 || i+1 >= len(b.list) || b.list[i+1].lo-b.list[i].lo > mostBuiltin {
		return ""
	}
	at := b.list[i].name
	name, ok := b.text[at]
	if !ok {
		if name = h.CString(at); h.Err() != nil || !isSymbol(name) {
			name = ""
		}
		if b.text == nil {
			b.text = map[uint64]string{}
		}
		b.text[at] = name
	}
	return name
}

// isSymbol reports whether a text is a name in C.
func isSymbol(name string) bool {
	for i := range len(name) {
		if c := name[i]; !(c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}

// builtinStarts returns where the builtin functions begin, nil if that is not found. The isolate
// has a table of that, and directly behind it one of as many objects.
func (h *heap) builtinStarts(isolate uint64) []uint64 {
	var words []uint64
	h.eachWord(isolate, 8*isolateWords, func(_, word uint64) bool {
		words = append(words, word)
		return true
	})
	h.Err()
	for i := 0; i < len(words); {
		begin := i
		for i < len(words) && words[i]%builtinAlign == 0 && words[i]-words[begin]+farthestBuiltin < 2*farthestBuiltin {
			i++
		}
		middle := i
		for i < len(words) && isPointer(words[i]) {
			i++
		}
		if n := i - middle; n >= fewestBuiltins && n <= mostBuiltins && n <= middle-begin && i < len(words) {
			return words[middle-n : middle]
		}
		if i == begin {
			i++
		}
	}
	return nil
}

// builtinNames returns the addresses of the names of n functions, nil if it does not find them.
// V8's table of names is somewhere in the data of the file. It has as many entries as there are
// functions, and nothing else is like it.
func (e *engine) builtinNames(h *heap, n int) (names []uint64) {
	t := &namesTable{heap: h, image: e.image, bias: e.bias, fixed: e.image.Type == elf.ET_EXEC}
	for _, p := range e.image.Progs {
		// There are no addresses in what is loaded at any place and is not written.
		if p.Type == elf.PT_LOAD && (t.fixed || p.Flags&elf.PF_W != 0) && names == nil {
			t.lo, t.hi = p.Vaddr+e.bias, p.Vaddr+e.bias+p.Filesz
			names = t.search(n)
		}
	}
	return names
}

// namesTable searches for the table of names in memory [lo, hi), which a segment of the file is
// loaded to.
type namesTable struct {
	*heap
	image  *elfimage.Image
	bias   uint64
	fixed  bool // the file is loaded where its addresses say, so they are in it
	lo, hi uint64
	tries  int
}

// search returns the addresses of n names, nil if it does not find them. The table is so large that
// every so many bytes a look is enough.
func (t *namesTable) search(n int) []uint64 {
	const entries = 4
	var words [entries * namedWords]uint64
	at := (t.lo + 7) &^ 7
	for range mostNamesSteps {
		if at >= t.hi || !t.read(at, words[:]) {
			return nil
		}
		for i := range namedWords {
			if t.isEntry(words[i:]) && t.isEntry(words[i+namedWords:]) && t.isEntry(words[i+2*namedWords:]) && isSymbol(t.CString(words[i])) && t.tries < mostNamesTries {
				t.tries++
				if names := t.around(at+8*uint64(i), n); names != nil {
					return names
				}
			}
			t.Err()
		}
		at += namesStep
	}
	return nil
}

// around returns the names in the table with an entry at an address if there are n of them. Other
// things may stand directly before and behind the table; its last entries are known.
func (t *namesTable) around(at uint64, n int) (names []uint64) {
	const size = 8 * namedWords
	before := min(uint64(n), (at-t.lo)/size)
	words := make([]uint64, namedWords*min(before+uint64(n)+1, before+(t.hi-at)/size))
	if !t.read(at-before*size, words) {
		return nil
	}
	first := int(before)
	for first > 0 && t.isEntry(words[namedWords*(first-1):]) {
		first--
	}
	for words = words[namedWords*first:]; len(words) > 0 && t.isEntry(words); words = words[namedWords:] {
		names = append(names, words[0])
	}
	for len(names) >= n && !strings.HasSuffix(t.CString(names[len(names)-1]), lastBuiltins) {
		names = names[:len(names)-1] // it is another thing that has a name
	}
	if len(names) < n {
		return nil
	}
	return names[len(names)-n:]
}

// isEntry reports whether words may be an entry: a name, and what kind of function it is.
func (t *namesTable) isEntry(words []uint64) bool {
	name := words[0] - t.bias
	return words[1] < mostBuiltinKind && slices.ContainsFunc(t.image.Progs, func(p elf.ProgHeader) bool { return p.Type == elf.PT_LOAD && name-p.Vaddr < p.Filesz })
}

// read reads words, as the process has them, or the file if it has the same.
func (t *namesTable) read(at uint64, words []uint64) bool {
	p := make([]byte, 8*len(words))
	if t.fixed {
		if t.image.ReadLoaded(at-t.bias, p) < len(p) {
			return false
		}
	} else if !t.Bytes(at, p) {
		t.Err()
		return false
	}
	for i := range words {
		words[i] = t.Arch.Order.Uint64(p[8*i:])
	}
	return true
}
