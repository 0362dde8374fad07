package object

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/sframe"
)

// ErrNone: the file has no SFrame section.
var ErrNone = errors.New("no .sframe section")

// A Section is an SFrame section of a file.
type Section struct {
	*sframe.Section
	Name  string // "" where the file has no section headers
	Index int    // of the section header; -1: found through PT_GNU_SFRAME

	stored []byte // the bytes without relocations, where there may be some
}

// Dump prints the section as [sframe.Section.Dump] does, line for line what
// readelf prints of the file: those that read V1 and V2 do not apply relocations,
// so that most functions of a relocatable object are at 0.
func (s Section) Dump(w io.Writer) error {
	if s.stored == nil || s.Version == sframe.V3 || s.Flags&sframe.FDEFuncStartPCRel != 0 {
		return s.Section.Dump(w)
	}
	stored, err := sframe.Open(s.stored, s.Addr)
	if err != nil {
		return err
	}
	return stored.Dump(w)
}

// Sections returns the SFrame sections of a file: those named .sframe, or
// .sframe and a suffix, and those of type SHT_GNU_SFRAME; where there are none,
// what PT_GNU_SFRAME leads to. Empty sections count as none. The error is
// ErrNone, or says which section cannot be read; the sections before it are
// returned with it.
func Sections(f *elf.File, l Layout) ([]Section, error) {
	var list []Section
	var read extents
	for i, s := range f.Sections {
		if !elfimage.IsSFrame(s) || s.Type == elf.SHT_NOBITS || s.Size == 0 {
			continue
		}
		if other := read.add(s); other != nil {
			return list, fmt.Errorf("section %s (number %d) shares bytes of the file with section %s", s.Name, i, other.Name)
		}
		section, err := openSection(f, i, l)
		if err != nil {
			return list, err
		}
		list = append(list, section)
	}
	if list != nil {
		return list, nil
	}
	for _, p := range f.Progs {
		if p.Type != elfimage.PT_GNU_SFRAME || p.Filesz == 0 {
			continue
		}
		data, err := readAll(p.Open(), p.Filesz)
		if err != nil {
			return nil, fmt.Errorf("segment PT_GNU_SFRAME: %w", err)
		}
		section, err := sframe.Open(data, p.Vaddr)
		if err != nil {
			return nil, fmt.Errorf("segment PT_GNU_SFRAME: %w", err)
		}
		return []Section{{Section: section, Index: -1}}, nil
	}
	return nil, ErrNone
}

func openSection(f *elf.File, i int, l Layout) (Section, error) {
	name := f.Sections[i].Name
	data, err := read(f.Sections[i])
	if err != nil {
		return Section{}, err
	}
	var stored []byte
	if f.Type == elf.ET_REL {
		stored = bytes.Clone(data)
		if err := relocate(f, i, data, l); err != nil {
			return Section{}, err
		}
	}
	section, err := sframe.Open(data, l[i])
	if err != nil {
		return Section{}, fmt.Errorf("section %s: %w", name, err)
	}
	return Section{section, name, i, stored}, nil
}

// extents are sections by where they lie in the file. Those that are read must
// not share bytes: what is read would not be bounded by the file's size.
type extents []*elf.Section

// add adds s and returns nil, or returns the section that shares bytes with it.
func (e *extents) add(s *elf.Section) (shares *elf.Section) {
	at, _ := slices.BinarySearchFunc(*e, s.Offset, func(other *elf.Section, off uint64) int { return cmp.Compare(other.Offset, off) })
	if at > 0 && (*e)[at-1].FileSize > s.Offset-(*e)[at-1].Offset {
		return (*e)[at-1]
	}
	if at < len(*e) && s.FileSize > (*e)[at].Offset-s.Offset {
		return (*e)[at]
	}
	*e = slices.Insert(*e, at, s)
	return nil
}

// Joined returns what all sections of Sections say together. The error is
// Sections's, that of one that cannot be read whole, or wraps sframe.ErrDiffer.
func Joined(f *elf.File, l Layout) (*sframe.Contents, error) {
	sections, err := Sections(f, l)
	if err != nil {
		return nil, err
	}
	var parts []*sframe.Contents
	for _, s := range sections {
		c, err := s.Contents()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		parts = append(parts, c)
	}
	return sframe.Join(parts...)
}

// Data returns the bytes of a section of f; of a relocatable object, as they are
// when its sections lie where l says. The error of a relocation wraps
// ErrRelocation.
func Data(f *elf.File, s *elf.Section, l Layout) ([]byte, error) {
	data, err := read(s)
	if err != nil || f.Type != elf.ET_REL {
		return data, err
	}
	for i := range f.Sections {
		if f.Sections[i] == s {
			return data, relocate(f, i, data, l)
		}
	}
	return nil, fmt.Errorf("section %s is not of this file", s.Name)
}

// read returns the bytes that the file has of a section, decompressed.
func read(s *elf.Section) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS {
		return nil, fmt.Errorf("section %s: it has no bytes in this file", s.Name)
	}
	if s.Flags&elf.SHF_COMPRESSED != 0 && s.Size > min(maxRatio*s.FileSize+small, maxPacked) {
		return nil, fmt.Errorf("section %s: %#x bytes, compressed to %#x: expected at most %d times as many, and %#x", s.Name, s.Size, s.FileSize, maxRatio, maxPacked)
	}
	data, err := readAll(s.Open(), s.Size)
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", s.Name, err)
	}
	return data, nil
}

// maxSize is the size in bytes of the largest section that is read. An
// uncompressed one is bounded by its file before.
const maxSize = 1 << 31

// A compressed section may be maxRatio times as large as in the file, and small bytes more, but
// no larger than maxPacked. Tables compress to a third; .sframe and .eh_frame are never compressed.
const maxRatio, small, maxPacked = 64, 4 << 20, 64 << 20

// readAll reads size bytes, of which there may be fewer. What a header says of
// the size is believed only as far as there are bytes.
func readAll(r io.Reader, size uint64) ([]byte, error) {
	if size > maxSize {
		return nil, fmt.Errorf("%#x bytes, expected at most %#x", size, uint64(maxSize))
	}
	data, err := elffile.ReadNext(r, size)
	if err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("%#x bytes are there, expected %#x", len(data), size)
	}
	return data, err
}

// Read returns the SFrame sections of a file of the given size that is an ELF
// file (laid out AsLinked), or an SFrame section and nothing else, whose address
// is then taken for 0, its name for .sframe, and its Index is -1. The error is
// that of elf.NewFile or of Sections.
func Read(r io.ReaderAt, size int64) ([]Section, error) {
	var magic [2]byte
	if n, _ := r.ReadAt(magic[:], 0); n == len(magic) &&
		(binary.LittleEndian.Uint16(magic[:]) == sframe.Magic || binary.BigEndian.Uint16(magic[:]) == sframe.Magic) {
		data, err := readAll(io.NewSectionReader(elffile.Solid(r), 0, size), uint64(size))
		if err != nil {
			return nil, err
		}
		s, err := sframe.Open(data, 0)
		if err != nil {
			return nil, err
		}
		return []Section{{Section: s, Name: ".sframe", Index: -1}}, nil
	}
	f, err := elffile.New(r, size)
	if err != nil {
		return nil, err
	}
	return Sections(f, AsLinked(f))
}
