package sysroot

import (
	"debug/elf"
	"fmt"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/target"
)

const (
	leastPointers = 8       // fewer tell nothing
	maxPointers   = 1 << 15 // are compared
	maxPacked     = 1 << 19 // words that packed relocations name are looked at
	relaSize      = 24      // sizeof(Elf64_Rela)
)

// checkPointers compares the addresses of code that a file has in its data, as a table of
// functions has them, with those in memory. What a program protects when it has started
// (PT_GNU_RELRO), it does not change, but for the few that the C library chooses itself
// (IFUNC); in another build of it code lies elsewhere, and most of them are others.
//
// A core file may have nothing else of a static program: its text is left out, and what the
// kernel has told of it is the same for builds that differ a little.
func (f *Files) checkPointers(im *elfimage.Image, bias uint64) error {
	if im.Class != elf.ELFCLASS64 {
		return nil
	}
	p := pointers{im: im, mem: f.mem, bias: bias, relative: uint64(f.opts.Arch.Relocations.Relative)}
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
	mem          target.Memory
	bias         uint64
	relative     uint64 // arch.Relocations.Relative, without a symbol
	seen, others int
}

// inPlace counts the addresses that a static program's file has in their places.
func (p *pointers) inPlace() {
	for _, s := range p.im.Progs {
		if s.Type != elf.PT_GNU_RELRO {
			continue
		}
		at := (s.Vaddr + 7) &^ 7
		data := p.im.Loaded(at, min(s.Filesz, 8*maxPointers))
		for ; len(data) >= 8 && p.seen < maxPointers; data, at = data[8:], at+8 {
			p.count(at, p.im.Order.Uint64(data))
		}
	}
}

// The packed relocations of the gABI, all relative, of words that have the number in place.
const (
	dtRELRSZ elf.DynTag = 35
	dtRELR   elf.DynTag = 36
)

// inRelocations counts those that the program makes when it starts, as it is told where it
// is loaded.
func (p *pointers) inRelocations(dyn []byte) {
	var rela, relaLen, relr, relrLen uint64
	for ; len(dyn) >= 16; dyn = dyn[16:] {
		switch v := p.im.Order.Uint64(dyn[8:]); elf.DynTag(p.im.Order.Uint64(dyn)) {
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
	table := p.im.Loaded(rela, min(relaLen, relaSize*maxPointers))
	for ; len(table) >= relaSize && p.seen < maxPointers; table = table[relaSize:] {
		if info := p.im.Order.Uint64(table[8:]); info == p.relative {
			p.count(p.im.Order.Uint64(table), p.im.Order.Uint64(table[16:]))
		}
	}
	p.inPacked(p.im.Loaded(relr, min(relrLen, 8*maxPointers)))
}

// inPacked counts those of packed relocations: an address, which is even, is that of a word; an
// odd number has a bit for each of the 63 words behind those before.
func (p *pointers) inPacked(table []byte) {
	at := uint64(0)
	for looked := 0; len(table) >= 8 && p.seen < maxPointers && looked < maxPacked; table = table[8:] {
		x := p.im.Order.Uint64(table)
		if x&1 == 0 {
			p.countInPlace(x)
			looked++
			at = x + 8
			continue
		}
		for i := range uint64(63) {
			if x>>(i+1)&1 == 1 {
				p.countInPlace(at + 8*i)
				looked++
			}
		}
		at += 63 * 8
	}
}

// countInPlace is count for a word whose value the file holds at the word's own place.
func (p *pointers) countInPlace(addr uint64) {
	if !p.isIn(addr, elf.PT_GNU_RELRO, 0) {
		return
	}
	if word := p.im.Loaded(addr, 8); len(word) == 8 {
		p.count(addr, p.im.Order.Uint64(word))
	}
}

// count counts a word of the file's at addr, if it is the address of code and protected.
func (p *pointers) count(addr, v uint64) {
	if !p.isIn(addr, elf.PT_GNU_RELRO, 0) || !p.isIn(v, elf.PT_LOAD, elf.PF_X) {
		return
	}
	var word [8]byte
	if n, _ := p.mem.ReadMemory(addr+p.bias, word[:]); n < len(word) {
		return
	}
	p.seen++
	if p.im.Order.Uint64(word[:]) != v+p.bias {
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
