package elf

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Symbol is a function of an image. Addresses are link-time ones.
type Symbol struct {
	Addr, Size uint64
	// Guessed says that the file does not tell the size: Size reaches to the next function.
	// [Image.Lookup] and its siblings leave it false.
	Guessed bool
	// Type and Old are filled in by [Image.Lookup] and its siblings alone. Old says that the symbol
	// has an old version, which programs do not get that are linked now.
	Type elf.SymType
	Old  bool

	name  uint32 // offset into the string table
	table uint8
}

// Symbols holds the functions of an image, by address. It is safe for concurrent use.
type Symbols struct {
	list    []entry // ascending by address, one each
	aliases []entry // further symbols of these addresses, in the same order
	strings []*stringTable

	mu    sync.Mutex
	named map[uint64]entry // by address: the one with the best name, where several are as good but for the name
}

// entry is a symbol of a [Symbols]. A large program has a million.
type entry struct {
	addr uint64
	name uint32 // offset in the string table
	bits uint32 // the size, and bits that tell symbols of one address apart
}

const (
	entrySize = 16 // bytes

	longest  = 1<<28 - 1 // bytes of a function; what is longer is cut
	second   = 1 << 28   // the symbol is of the second table
	local    = 1 << 29
	unsized  = 1 << 30 // the file does not tell the size
	unproved = 1 << 31 // NOTYPE: a label in assembly is a function, but other labels are not

	// A function with a size is better than a label, then a global name than a local one.
	rankBits = unproved | unsized | local
)

func (e *entry) size() uint64       { return uint64(e.bits & longest) }
func (e *entry) table() uint8       { return uint8(e.bits / second & 1) }
func (e *entry) end() uint64        { return e.addr + e.size() }
func (e *entry) is(bit uint32) bool { return e.bits&bit != 0 }

// ties reports whether a symbol has the same address as another one, and is as good but for the
// name.
func (e entry) ties(other entry) bool {
	return e.addr == other.addr && e.bits&rankBits == other.bits&rankBits
}

func newEntry(r *rawSymbol, table int) entry {
	e := entry{addr: r.addr, name: r.name, bits: uint32(min(r.size, ^uint64(0)-r.addr, longest)) | uint32(table)*second}
	if r.local() {
		e.bits |= local
	}
	if r.size == 0 {
		e.bits |= unsized
	}
	if r.symType() == elf.STT_NOTYPE {
		e.bits |= unproved
	}
	return e
}

// Symbols returns the image's functions, by .symtab and .dynsym. If the section headers are
// stripped, PT_DYNAMIC leads to them.
func (im *Image) Symbols() *Symbols {
	im.symsOnce.Do(func() {
		code := im.codeRanges()
		label := func(addr uint64) bool {
			_, ok := codeEnd(code, addr)
			return ok && addr != 0
		}
		im.syms, im.symsErr = im.index(code, label, elf.STT_FUNC, elf.STT_GNU_IFUNC)
		im.syms.addSizes(code)
	})
	return im.syms
}

// SymbolsError says why [Image.Symbols] has left out a symbol table. It is nil if Symbols has all.
func (im *Image) SymbolsError() error {
	im.Symbols()
	return im.symsErr
}

// index returns the symbols of some types by address; and labels, symbols of no type, at addresses
// for which label, if it is not nil, returns true. Most addresses are in the ranges in. An error
// says that a table was left out because there was no room, or because it cannot be read to its
// end.
func (im *Image) index(in []codeRange, label func(addr uint64) bool, types ...elf.SymType) (*Symbols, error) {
	tables := im.symbolTables()
	var budget error
	if errors.Is(tables.err, ErrBudget) {
		budget = tables.err
	}
	ss, err := im.indexOf(tables.list, in, label, types)
	if len(ss.list) == 0 && !errors.Is(err, ErrBudget) {
		if t := im.dynamicTable(); t != nil {
			found, more := im.indexOf([]*symbolTable{t}, in, label, types)
			ss, err = found, cmp.Or(err, more)
		}
	}
	return ss, cmp.Or(err, budget)
}

func (im *Image) indexOf(tables []*symbolTable, in []codeRange, label func(addr uint64) bool, types []elf.SymType) (*Symbols, error) {
	ss := new(Symbols)
	symbols := uint64(0) // as the tables claim
	for _, t := range tables {
		ss.strings = append(ss.strings, t.strings)
		symbols += uint64(t.entries.size) / uint64(im.symbolSize())
	}
	var wanted [16]bool // by type
	for _, t := range types {
		wanted[t] = true
	}
	sized := label == nil // all have sizes: they are no functions
	// The tables are read twice: to count the symbols of each bucket, and to put each in its place.
	each := func(do func(nth int, r *rawSymbol)) (broken int, err error) {
		for nth, t := range tables {
			names := t.strings.size()
			err := t.each(func(_ int, r *rawSymbol) {
				switch {
				case r.undefined || r.name == 0 || uint64(r.name) >= names || sized && r.size == 0:
				case wanted[r.info&15], label != nil && r.symType() == elf.STT_NOTYPE && label(r.addr):
					do(nth, r)
				}
			})
			if err != nil {
				return nth, err
			}
		}
		return 0, nil
	}
	// A function without a size would reach over functions whose symbols cannot be read.
	without := func(broken int, err error) (*Symbols, error) {
		ss, _ := im.indexOf(slices.Delete(slices.Clone(tables), broken, broken+1), in, label, types)
		return ss, fmt.Errorf("read a symbol table: %w", err)
	}
	by := im.buckets(in, symbols)
	next := make([]uint32, by.last+2) // where the next symbol of a bucket goes
	n := 0
	if broken, err := each(func(_ int, r *rawSymbol) { next[by.of(r.addr)+1]++; n++ }); err != nil {
		return without(broken, err)
	}
	size := int64(entrySize * n)
	if size > uncounted && !im.Reserve(size) {
		return new(Symbols), fmt.Errorf("keep %d symbols: %w", n, ErrBudget)
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	all := make([]entry, n)
	if broken, err := each(func(nth int, r *rawSymbol) {
		at := &next[by.of(r.addr)]
		if int(*at) < n { // or the file has changed meanwhile
			all[*at] = newEntry(r, nth)
			*at++
		}
	}); err != nil {
		if size > uncounted {
			im.Release(size)
		}
		return without(broken, err)
	}
	begin := uint32(0)
	for _, end := range next[:by.last+1] {
		const few = 32
		if list := all[min(begin, end):end]; len(list) <= few {
			sortFew(list)
		} else {
			slices.SortFunc(list, byRank)
		}
		begin = end
	}
	ss.split(all)
	return ss, nil
}

// buckets are ranges of addresses, ascending. Most of them have a few symbols.
type buckets struct {
	lo    uint64 // addresses before it are in the first bucket
	shift uint
	last  uint64 // addresses behind its end are in it
}

// of returns the bucket of an address.
func (b *buckets) of(addr uint64) uint64 { return min((max(addr, b.lo)-b.lo)>>b.shift, b.last) }

// buckets returns buckets for some symbols, most of which lie in the ascending ranges in; if there
// are none, in the file's segments.
func (im *Image) buckets(in []codeRange, symbols uint64) (b buckets) {
	lo, hi := ^uint64(0), uint64(0)
	for _, r := range in {
		lo, hi = min(lo, r.lo), max(hi, r.hi)
	}
	if len(in) == 0 {
		for _, p := range im.Progs {
			if p.Type == elf.PT_LOAD && p.Vaddr+p.Memsz > p.Vaddr {
				lo, hi = min(lo, p.Vaddr), max(hi, p.Vaddr+p.Memsz)
			}
		}
	}
	if lo >= hi { // an object file: its addresses are offsets
		lo, hi = 0, max(uint64(im.size), 1)
	}
	const each, most = 4, 1 << 16
	b.lo = lo
	for (hi-lo)>>b.shift >= min(symbols/each+1, most) {
		b.shift++
	}
	b.last = (hi - lo) >> b.shift
	return b
}

// byRank compares symbols by address, and symbols of one address by how good they are.
func byRank(a, b entry) int {
	if a.addr != b.addr {
		if a.addr < b.addr {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.bits&rankBits, b.bits&rankBits), cmp.Compare(a.table(), b.table()), cmp.Compare(a.name, b.name))
}

// sortFew sorts a few symbols: as fast as a large program needs it, for nearly all buckets have a
// few.
func sortFew(list []entry) {
	for i := 1; i < len(list); i++ {
		e, at := list[i], i
		for at > 0 && (e.addr < list[at-1].addr || e.addr == list[at-1].addr && byRank(e, list[at-1]) < 0) {
			list[at] = list[at-1]
			at--
		}
		list[at] = e
	}
}

// split takes all symbols, in the order of byRank.
func (ss *Symbols) split(all []entry) {
	again := func(i int) bool { return i > 0 && all[i-1].addr == all[i].addr }
	n := 0
	for i := range all {
		if again(i) {
			n++
		}
	}
	ss.aliases = make([]entry, 0, n)
	for i, e := range all {
		if again(i) {
			ss.aliases = append(ss.aliases, e)
		}
	}
	ss.list = slices.CompactFunc(all, func(a, b entry) bool { return a.addr == b.addr })
	rest := all[len(ss.list):] // has room for the aliases
	copy(rest, ss.aliases)
	ss.aliases = rest
}

// addSizes completes a list of functions. A function without a size gets the code up to the next
// one, but not beyond its section. A symbol within another function (a label in assembly) is left
// out, as GDB prefers the function's name; and so are labels that assemblers and linkers make.
func (ss *Symbols) addSizes(code []codeRange) {
	keep := ss.list[:0]
	covered := uint64(0) // end of the functions so far that have a size
	for _, e := range ss.list {
		if e.is(unproved) {
			if e.is(unsized) && e.addr < covered {
				continue
			}
			var ok bool
			if e, ok = ss.label(e); !ok {
				continue
			}
		}
		if !e.is(unsized) {
			covered = max(covered, e.end())
		} else if _, ok := codeEnd(code, e.addr); !ok || e.addr < covered {
			continue
		}
		keep = append(keep, e)
	}
	for i := range keep {
		if e := &keep[i]; e.is(unsized) {
			end, _ := codeEnd(code, e.addr)
			if i+1 < len(keep) {
				end = min(end, keep[i+1].addr)
			}
			e.bits |= uint32(min(end-e.addr, longest))
		}
	}
	ss.list = keep
}

// label returns the best symbol at the address of e, where no function is, that names code. e is
// the best of all.
func (ss *Symbols) label(e entry) (entry, bool) {
	if ss.namesCode(e) {
		return e, true
	}
	for _, other := range ss.at(e.addr) {
		if other.addr != e.addr {
			break
		}
		if ss.namesCode(other) {
			return other, true
		}
	}
	return e, false
}

// namesCode reports whether a label is no mapping symbol ($x, $d) and no local label (.L1).
func (ss *Symbols) namesCode(e entry) bool {
	first, _ := ss.strings[e.table()].begin(e.name, 1)
	return first != "" && first != "$" && first != "."
}

// at returns the aliases of the symbol at an address, and what follows them.
func (ss *Symbols) at(addr uint64) []entry {
	first, _ := slices.BinarySearchFunc(ss.aliases, addr, func(e entry, a uint64) int { return cmp.Compare(e.addr, a) })
	return ss.aliases[first:]
}

// best returns the symbol with the best name at the address of the i-th one: of the symbols of its
// rank, the one with the fewest underscores in front: "write", not "__libc_write".
func (ss *Symbols) best(i int) Symbol {
	e := ss.list[i]
	if aliases := ss.at(e.addr); len(aliases) > 0 && aliases[0].ties(e) {
		e = ss.bestOf(e, aliases)
	}
	return Symbol{Addr: e.addr, Size: e.size(), Guessed: e.is(unsized), name: e.name, table: e.table()}
}

func (ss *Symbols) bestOf(e entry, aliases []entry) entry {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if known, ok := ss.named[e.addr]; ok {
		return known
	}
	underscores := func(e entry) (n int) {
		const most = 3
		text, _ := ss.strings[e.table()].begin(e.name, most)
		for n < len(text) && text[n] == '_' {
			n++
		}
		return n
	}
	found := e
	least := underscores(e)
	for _, other := range aliases {
		if !other.ties(e) || least == 0 {
			break
		}
		if other.is(unproved) && !ss.namesCode(other) {
			continue
		}
		if n := underscores(other); n < least {
			found, least = other, n
			if e.is(unsized) {
				found.bits |= e.bits & longest
			}
		}
	}
	if ss.named == nil {
		ss.named = make(map[uint64]entry)
	}
	ss.named[e.addr] = found
	return found
}

// codeRange is one section or segment of code. A symbol that lies before it does not name its code.
type codeRange struct{ lo, hi uint64 }

// codeRanges returns the file's executable sections, or its segments if it has no sections, in
// ascending order.
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

// Len returns the number of functions.
func (ss *Symbols) Len() int { return len(ss.list) }

// At returns the i-th function in ascending order of address.
func (ss *Symbols) At(i int) Symbol { return ss.best(i) }

// Find returns the function that covers addr: the nearest one that begins at or
// before addr, unless it ends before addr.
func (ss *Symbols) Find(addr uint64) (Symbol, bool) {
	i, found := slices.BinarySearchFunc(ss.list, addr, func(e entry, a uint64) int { return cmp.Compare(e.addr, a) })
	if !found {
		i--
	}
	// An alias or a nested label may end early while an earlier function still
	// covers addr; a few steps back suffice for real files.
	for n := 0; i >= 0 && n < 8; i, n = i-1, n+1 {
		if s := ss.best(i); addr-s.Addr < s.Size {
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
	return ss.strings[s.table].begin(s.name, most)
}

// maxAliases bounds the names of one address that Begins looks at. Linkers that fold equal
// functions give some a thousand.
const maxAliases = 256

// Begins reports whether a function called name begins at addr, as far as some hundred names of the
// address tell.
func (ss *Symbols) Begins(addr uint64, name string) bool {
	is := func(e entry) bool { return ss.strings[e.table()].is(e.name, name) }
	i, found := slices.BinarySearchFunc(ss.list, addr, func(e entry, a uint64) int { return cmp.Compare(e.addr, a) })
	if !found {
		return false
	}
	if is(ss.list[i]) {
		return true
	}
	aliases := ss.at(addr)
	for _, e := range aliases[:min(len(aliases), maxAliases)] {
		if e.addr == addr && is(e) {
			return true
		}
	}
	return false
}
