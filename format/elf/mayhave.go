package elf

import (
	"bytes"
	"debug/elf"
	"io"
	"slices"
	"strings"
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
	m := mentioned{found: make([]bool, len(names))}
	for _, name := range names {
		m.want = append(m.want, append([]byte(name), 0))
		m.longest = max(m.longest, len(name)+1)
	}
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

// mentioned are names, each with the zero that ends it, and which of them were found.
type mentioned struct {
	want    [][]byte
	longest int // bytes
	found   []bool
}

// in looks for the names in a text, and reports whether some were not found yet.
func (m *mentioned) in(text []byte) (missing bool) {
	for i, want := range m.want {
		m.found[i] = m.found[i] || containsName(text, want)
		missing = missing || !m.found[i]
	}
	return missing
}

// inSection looks for the names in a section. A compressed section may have all.
func (m *mentioned) inSection(im *Image, s *Section) {
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		for i := range m.found {
			m.found[i] = true
		}
		return
	}
	if s.Type == elf.SHT_NOBITS || s.Offset > uint64(im.size) {
		return
	}
	size := int64(min(s.FileSize, uint64(im.size)-s.Offset))
	text := part{ReaderAt: io.NewSectionReader(im.r, int64(s.Offset), size), size: size}
	text.each(m.longest-1, func(_ int64, b []byte) bool { return m.in(b) })
}

// containsName reports whether text contains name. It looks for the name's rarest byte: what most
// names begin with, an underscore, is every tenth byte of a large table, and takes ten times as
// long.
func containsName(text, name []byte) bool {
	const usual = "\x00_etariosnc1ldEmpS.gINubZyfh2vPC/TxML0R3wK457" // the most frequent byte first
	first := 0
	for i, c := range name {
		if k := strings.IndexByte(usual, c); k < 0 || k > strings.IndexByte(usual, name[first]) {
			if first = i; k < 0 {
				break
			}
		}
	}
	rest := name[first:]
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], rest)
		if i < 0 {
			return false
		}
		if at += i; bytes.HasSuffix(text[:at], name[:first]) {
			return true
		}
	}
}
