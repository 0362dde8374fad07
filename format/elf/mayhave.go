package elf

import (
	"bytes"
	"debug/elf"
	"io"
	"slices"
)

// seldom are the names of [Seldom].
var seldom []string

// Seldom returns a symbol's name that is looked for in all files, and that nearly all lack. The
// first [Image.MayHaveSymbol] that asks a file for such a name looks for all of them at once. Call
// it while packages are initialised.
func Seldom(name string) string {
	seldom = append(seldom, name)
	return name
}

type seldomKey struct{}

// MayHaveSymbol reports whether a symbol table may have a symbol called name: whether one of the
// table's strings ends with it. MayHaveSymbol takes a fraction of the time and memory of
// [Image.Lookup]. Use it for names that most files lack.
func (im *Image) MayHaveSymbol(name string) bool {
	if i := slices.Index(seldom, name); i >= 0 {
		return im.Memo(seldomKey{}, func() any { return im.mayHave(seldom...) }).([]bool)[i]
	}
	return im.mayHave(name)[0]
}

// mayHave is MayHaveSymbol for several names.
func (im *Image) mayHave(names ...string) []bool {
	m := newMentioned(names)
	tables := false
	sections := im.ELF().Sections
	for _, t := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		i := slices.IndexFunc(sections, func(s *Section) bool { return s.Type == t })
		if i < 0 {
			continue
		}
		tables = true
		if link := uint64(sections[i].Link); link < uint64(len(sections)) {
			m.inSection(im, sections[link])
		}
	}
	if !tables {
		_, text, _ := im.dynamicSymbols()
		m.in(text)
	}
	return m.found
}

// mentioned are names, and which of them were found.
type mentioned struct {
	want    []string
	longest int // bytes, with the zero that ends a name
	found   []bool
	left    int // how many were not found yet
	// ending has the names, by their numbers, that end with a byte.
	ending [256][]int
}

func newMentioned(names []string) *mentioned {
	m := &mentioned{want: names, found: make([]bool, len(names)), left: len(names)}
	for i, name := range names {
		m.longest = max(m.longest, len(name)+1)
		if name == "" { // each string ends with it
			m.found[i] = true
			m.left--
			continue
		}
		last := name[len(name)-1]
		m.ending[last] = append(m.ending[last], i)
	}
	return m
}

// in looks for the names in a text, and reports whether some were not found yet. It goes from one
// string's end to the next, once for all names: a large program has ten megabytes of them.
func (m *mentioned) in(text []byte) (missing bool) {
	for at := 0; m.left > 0; at++ {
		n := bytes.IndexByte(text[at:], 0)
		if n < 0 {
			break
		}
		if at += n; at == 0 {
			continue
		}
		for _, i := range m.ending[text[at-1]] {
			if want := m.want[i]; !m.found[i] && at >= len(want) && string(text[at-len(want):at]) == want {
				m.found[i] = true
				m.left--
			}
		}
	}
	return m.left > 0
}

// inSection looks for the names in a section. A compressed section may have all.
func (m *mentioned) inSection(im *Image, s *Section) {
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		for i := range m.found {
			m.found[i] = true
		}
		m.left = 0
		return
	}
	if s.Type == elf.SHT_NOBITS || s.Offset > uint64(im.size) {
		return
	}
	size := int64(min(s.FileSize, uint64(im.size)-s.Offset))
	text := part{ReaderAt: io.NewSectionReader(im.r, int64(s.Offset), size), size: size}
	text.each(m.longest-1, func(_ int64, b []byte) bool { return m.in(b) })
}
