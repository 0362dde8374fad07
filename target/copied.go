package target

import (
	"debug/elf"
	"sort"
	"sync"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// copied is executable memory of no file, or shared memory that has a name, beside or between the
// mappings of files. Programs copy their code to such memory, to have it in large pages or to
// change it, and put the copy where the code was.
type copied struct {
	Mapping
	beside [2]*Module // the modules of the nearest mappings below and above; nil for none
	once   sync.Once
	spans  []span // ascending by Lo, disjoint: what of it is whose code
}

// findCopied lists what may be a copy of a module's code: code of no module, and shared memory.
func (ms *Modules) findCopied(code []Mapping) {
	at := func(c Mapping) int {
		return sort.Search(len(ms.spans), func(i int) bool { return ms.spans[i].Hi > c.Lo })
	}
	for _, c := range code {
		if i := at(c); c.Exec && (i == len(ms.spans) || c.Hi <= ms.spans[i].Lo) {
			ms.mayBeCopied(c, i-1, i)
		}
	}
	for i := range ms.spans {
		if s := &ms.spans[i]; s.m.shared && s.Exec {
			ms.mayBeCopied(s.Mapping, i-1, i+1)
		}
	}
	sort.Slice(ms.copied, func(i, j int) bool { return ms.copied[i].Lo < ms.copied[j].Lo })
}

// mayBeCopied lists c, with the modules of the spans below and above it if they reach as far as c.
// Shared memory is not listed without any.
func (ms *Modules) mayBeCopied(c Mapping, below, above int) {
	x := &copied{Mapping: c}
	for n, i := range [...]int{below, above} {
		if i >= 0 && i < len(ms.spans) && ms.spans[i].m.reaches(c) && ms.spans[i].m != x.beside[0] {
			x.beside[n] = ms.spans[i].m
		}
	}
	if x.beside != [2]*Module{} || c.Kernel == "" && findSpan(ms.spans, c.Lo) == nil {
		ms.copied = append(ms.copied, x)
	}
}

// reaches reports whether c is among the module's mappings, or touches them.
func (m *Module) reaches(c Mapping) bool {
	return !m.whole && !m.shared && c.Lo <= m.Hi() && m.Lo() <= c.Hi
}

// copyOf returns the module whose code stands at addr, in memory that no file has; nil if there is
// none.
func (ms *Modules) copyOf(addr uint64) *Module {
	i := sort.Search(len(ms.copied), func(i int) bool { return ms.copied[i].Hi > addr })
	if i == len(ms.copied) || addr < ms.copied[i].Lo {
		return nil
	}
	c := ms.copied[i]
	c.once.Do(func() {
		if c.resolve(ms.present()); len(c.spans) == 0 {
			if m := ms.unpacked(ms.present(), c.Mapping); m != nil {
				c.spans = append(c.spans, span{m.Mappings[0], m})
			}
		}
	})
	return findSpan(c.spans, addr)
}

// present returns the memory that has only bytes that are present in the process, and takes none
// from files; nil if there is none.
func (ms *Modules) present() Memory {
	if ms.Present != nil {
		return ms.Present
	}
	return ms.Memory
}

// resolve finds out what the modules beside the memory have there, by their program headers. If the
// bytes are not the file's, or nobody knows them, the module is doubted.
func (c *copied) resolve(mem Memory) {
	const page = 0xfff
	for _, m := range c.beside {
		if m == nil {
			continue
		}
		im, bias, err := m.PeekImage()
		if err != nil {
			continue
		}
		for _, p := range im.Progs {
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || p.Filesz == 0 {
				continue
			}
			lo, hi := p.Vaddr&^page+bias, (p.Vaddr+p.Filesz+page)&^page+bias
			lo, hi = max(lo, c.Lo), min(hi, c.Hi)
			if lo >= hi || findSpan(c.spans, lo) != nil || findSpan(c.spans, hi-1) != nil {
				continue
			}
			at, of := Mapping{Lo: lo, Hi: hi, Offset: lo - bias - p.Vaddr + p.Off, Exec: true}, m
			if same, known := SameCode(im, bias, mem, lo, hi); !same || !known {
				of = doubted(m, im, bias, at)
			}
			c.spans = append(c.spans, span{at, of})
		}
	}
	sort.Slice(c.spans, func(i, j int) bool { return c.spans[i].Lo < c.spans[j].Lo })
}

// doubted returns a module that has the image of m at one place alone, where its code may be
// another.
func doubted(m *Module, im *elfimage.Image, bias uint64, at Mapping) *Module {
	d := &Module{Path: m.Path, Mappings: []Mapping{at}, Identity: m.Identity, doubted: true}
	d.once.Do(func() { d.image, d.bias = im, bias })
	return d
}

// Doubted reports whether the module's code is in memory of no file, and is not known to be the
// file's. What the file's tables and symbols say there is a guess.
func (m *Module) Doubted() bool { return m.doubted }

// Bounds of [SameCode].
const (
	comparedPages = 16   // that are compared, of all that there are
	comparedPage  = 4096 // bytes
	mayDiffer     = 16   // one byte of so many may differ: debuggers and tracers change single instructions
)

// SameCode compares the target's memory at the run-time addresses [lo, hi) with what an image has
// loaded there. It reads some pages of it, always the same ones. known is false if memory, or the
// file, has none of them.
func SameCode(im *elfimage.Image, bias uint64, mem Memory, lo, hi uint64) (same, known bool) {
	if mem == nil || lo >= hi {
		return false, false
	}
	var ours, theirs [comparedPage]byte
	pages := (hi - lo + comparedPage - 1) / comparedPage
	n := min(pages, comparedPages)
	differ, compared := 0, 0
	for i := range n {
		at := lo
		if n > 1 {
			at += i * (pages - 1) / (n - 1) * comparedPage
		}
		want := int(min(hi-at, comparedPage))
		has, _ := mem.ReadMemory(at, theirs[:want])
		has = min(has, im.ReadLoaded(at-bias, ours[:want]))
		for k := range has {
			if ours[k] != theirs[k] {
				differ++
			}
		}
		compared += has
	}
	return differ*mayDiffer <= compared && compared > 0, compared > 0
}
