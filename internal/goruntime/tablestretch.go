package goruntime

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"iter"

	"github.com/sfwalk/sfwalk/format/gopclntab"
)

// stretch is a part of a file that a table may be in.
type stretch struct {
	data []byte
	addr uint64
}

// maxSearch bounds how much of a file without section headers is searched, and how much of any
// file's data for pointers to a table.
const maxSearch = 1 << 29

// places yields the parts of an image that may hold a table. In a file with sections these
// are the sections that the Go linker makes for it. Others count only where the rest of the
// sections says that the file is Go's: a linker other than Go's may have joined sections.
func (f *finder) stretches() iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		sections := f.im.ELF().Sections
		isGo := false
		for _, s := range sections {
			switch s.Name {
			case ".gopclntab", ".data.rel.ro.gopclntab":
				if data, addr, err := f.im.Section(s.Name); err == nil && !yield(stretch{data, addr}) {
					return
				}
				isGo = true
			case ".go.buildinfo", ".note.go.buildid":
				isGo = true
			}
		}
		// An image without sections is a file that was stripped of them, or memory.
		// Memory may be far away: no more than the notes are read, if it is not Go's.
		if len(sections) <= 1 {
			isGo = f.im.File() != nil || f.hasNote()
		}
		if !isGo {
			return
		}
		left := uint64(maxSearch)
		for _, p := range f.im.Progs {
			if p.Type != elf.PT_LOAD || p.Filesz == 0 || left == 0 {
				continue
			}
			data := f.im.Loaded(p.Vaddr, min(p.Filesz, left))
			left -= min(left, p.Filesz)
			if data != nil && !yield(stretch{data, p.Vaddr}) {
				return
			}
		}
	}
}

// hasNote reports whether an image has the Go linker's build ID.
func (f *finder) hasNote() bool {
	for _, p := range f.im.Progs {
		if p.Type == elf.PT_NOTE && bytes.Contains(f.im.Loaded(p.Vaddr, min(p.Filesz, 1<<16)), []byte("Go\x00\x00")) {
			return true
		}
	}
	return false
}

// magics are the ends of the versions' magic numbers, the newest first.
var magics = [...]byte{0xf1, 0xf0, 0xfa, 0xfb}

// headers yields the offsets in the stretch at which there may be a table's header, its
// beginning first.
func (p *stretch) headers(order binary.ByteOrder) iter.Seq[int] {
	return func(yield func(int) bool) {
		if _, ok := gopclntab.ReadHeader(p.data); ok && !yield(0) {
			return
		}
		for _, m := range magics {
			mark := make([]byte, 6) // the magic number, and zeros
			order.PutUint32(mark, 0xffffff00|uint32(m))
			for at := 1; at < len(p.data); at++ {
				i := bytes.Index(p.data[at:], mark)
				if i < 0 {
					break
				}
				if at += i; at%4 == 0 {
					if _, ok := gopclntab.ReadHeader(p.data[at:]); ok && !yield(at) {
						return
					}
				}
			}
		}
	}
}
