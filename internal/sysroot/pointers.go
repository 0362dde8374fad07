package sysroot

import (
	"debug/elf"
	"fmt"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

const (
	leastPointers = 8       // fewer tell nothing
	maxPointers   = 1 << 15 // are compared
	maxPacked     = 1 << 19 // words that packed relocations name are looked at
)

// checkPointers compares the addresses of code that a file has in its data, as a table of functions
// has them, with the addresses in memory. What a program protects when it has started
// (PT_GNU_RELRO), it does not change, but for the few that the C library chooses itself (IFUNC); in
// another build of it code lies elsewhere, and most of them are others.
//
// A core file may have nothing else of a static program: its text is left out, and what the
// kernel has told of it is the same for builds that differ a little.
func (f *Files) checkPointers(im *elfimage.Image, bias uint64) error {
	p := pointers{im: im, word: im.WordSize(), mem: f.mem, bias: bias, relative: f.opts.Arch.Relocations.Relative}
	if dyn, _, err := im.Segment(elf.PT_DYNAMIC); err == nil {
		p.inRelocations(dyn)
	} else {
		p.inPlace() // with a dynamic linker, memory has other addresses there
	}
	if p.seen >= leastPointers && p.others > p.seen/4 {
		return fmt.Errorf("%d of %d addresses of code in its data are others in memory: %w", p.others, p.seen, ErrMismatch)
	}
	return nil
}

// pointers counts the addresses of code in a file's data.
type pointers struct {
	im           *elfimage.Image
	word         uint64 // size of a word, bytes
	mem          target.Memory
	bias         uint64
	relative     uint32 // arch.Relocations.Relative
	seen, others int
}

// inPlace counts the addresses that a static program's file has in their places.
func (p *pointers) inPlace() {
	for _, s := range p.im.Progs {
		if s.Type != elf.PT_GNU_RELRO {
			continue
		}
		at := (s.Vaddr + p.word - 1) &^ (p.word - 1)
		data := p.im.Loaded(at, min(s.Filesz, p.word*maxPointers))
		for ; uint64(len(data)) >= p.word && p.seen < maxPointers; data, at = data[p.word:], at+p.word {
			p.count(at, p.im.Word(data))
		}
	}
}

// The packed relocations of the gABI, all relative, of words that have the number in place.
const (
	dtRELRSZ elf.DynTag = 35
	dtRELR   elf.DynTag = 36
)

// inRelocations counts the pointers that the program makes when it starts, as it is told where it
// is loaded.
func (p *pointers) inRelocations(dyn []byte) {
	var rel, relLen, rela, relaLen, relr, relrLen uint64
	for tag, v := range p.im.Dynamic(dyn) {
		switch tag {
		case elf.DT_REL:
			rel = v
		case elf.DT_RELSZ:
			relLen = v
		case elf.DT_RELA:
			rela = v
		case elf.DT_RELASZ:
			relaLen = v
		case dtRELR:
			relr = v
		case dtRELRSZ:
			relrLen = v
		}
	}
	p.inTable(rela, relaLen, true)
	p.inTable(rel, relLen, false)
	p.inPacked(p.im.Loaded(relr, min(relrLen, p.word*maxPointers)))
}

// inTable counts the pointers of a table of relocations at addr, of size bytes.
func (p *pointers) inTable(addr, size uint64, addends bool) {
	looked := 0
	for r := range p.im.Relocations(p.im.Loaded(addr, min(size, p.im.RelocationSize(addends)*maxPointers)), addends) {
		switch {
		case p.seen >= maxPointers || looked >= maxPacked:
			return
		case r.Type != p.relative || r.Symbol != 0:
		case r.InPlace:
			p.countInPlace(r.Addr)
			looked++
		default:
			p.count(r.Addr, r.Addend)
		}
	}
}

// inPacked counts the pointers of packed relocations: an even number is the address of a word; an
// odd number has a bit for each of the words that follow: one fewer than a word has bits.
func (p *pointers) inPacked(table []byte) {
	at, bits := uint64(0), 8*p.word-1
	for looked := 0; uint64(len(table)) >= p.word && p.seen < maxPointers && looked < maxPacked; table = table[p.word:] {
		x := p.im.Word(table)
		if x&1 == 0 {
			p.countInPlace(x)
			looked++
			at = x + p.word
			continue
		}
		for i := range bits {
			if x>>(i+1)&1 == 1 {
				p.countInPlace(at + p.word*i)
				looked++
			}
		}
		at += bits * p.word
	}
}

// countInPlace is count for a word whose value the file holds at the word's own place.
func (p *pointers) countInPlace(addr uint64) {
	if !p.isIn(addr, elf.PT_GNU_RELRO, 0) {
		return
	}
	if word := p.im.Loaded(addr, p.word); uint64(len(word)) == p.word {
		p.count(addr, p.im.Word(word))
	}
}

// count counts a word of the file's at addr, if it is the address of code and protected.
func (p *pointers) count(addr, v uint64) {
	if !p.isIn(addr, elf.PT_GNU_RELRO, 0) || !p.isIn(v, elf.PT_LOAD, elf.PF_X) {
		return
	}
	var room [8]byte
	word := room[:p.word]
	if n, _ := p.mem.ReadMemory(addr+p.bias, word); n < len(word) {
		return
	}
	p.seen++
	if p.im.Word(word) != v+p.bias {
		p.others++
	}
}

// isIn reports whether an address of the file lies in a segment of that type, with those flags.
func (p *pointers) isIn(addr uint64, typ elf.ProgType, flags elf.ProgFlag) bool {
	for _, s := range p.im.Progs {
		if s.Type == typ && s.Flags&flags == flags && addr-s.Vaddr < s.Memsz {
			return true
		}
	}
	return false
}
