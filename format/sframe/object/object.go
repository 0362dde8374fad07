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

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/elffile"
)

// ErrNoSFrame means that the file has no SFrame section.
var ErrNoSFrame = errors.New("no .sframe section")

// A Section is an SFrame section of a file.
type Section struct {
	*sframe.Section
	Name  string // "" if the file has no section headers
	Index int    // of the section header; -1: found through PT_GNU_SFRAME

	stored []byte // the bytes before relocation; nil if the file is not relocatable
}

// Dump prints the section as [sframe.Section.Dump] does, line for line what readelf prints of the
// file. The versions of readelf for V1 and V2 do not apply relocations, so that most functions of a
// relocatable object are at 0.
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

// Sections returns the SFrame sections of a file: sections whose name is .sframe or begins with
// ".sframe.", and sections of type SHT_GNU_SFRAME. If there are none, it returns the section that
// PT_GNU_SFRAME leads to. Empty sections count as none. The error is ErrNoSFrame, or says which
// section cannot be read; the sections before it are returned with the error.
func Sections(im *elfimage.Image, l Layout) ([]Section, error) {
	var list []Section
	var read extents
	f := im.ELF()
	for i, s := range f.Sections {
		if !elfimage.IsSFrame(s) || s.Type == elf.SHT_NOBITS || s.Size == 0 {
			continue
		}
		if other := read.add(s); other != nil {
			return list, fmt.Errorf("section %s (number %d) shares bytes of the file with section %s", s.Name, i, other.Name)
		}
		parts, err := openSection(im, f, i, l)
		list = append(list, parts...)
		if err != nil {
			return list, err
		}
	}
	if list != nil {
		return list, nil
	}
	data, addr, err := im.Segment(elfimage.PT_GNU_SFRAME)
	if errors.Is(err, elfimage.ErrNoSection) || err == nil && len(data) == 0 {
		return nil, ErrNoSFrame
	}
	var parts []*sframe.Section
	if err == nil {
		parts, err = sframe.OpenParts(data, addr)
	}
	for _, p := range parts {
		list = append(list, Section{Section: p, Index: -1})
	}
	if err != nil {
		return list, fmt.Errorf("segment PT_GNU_SFRAME: %w", err)
	}
	return list, nil
}

// openSection returns the parts of a section; most have one.
func openSection(im *elfimage.Image, f *elfimage.File, i int, l Layout) (list []Section, err error) {
	s := f.Sections[i]
	if s.Flags&elf.SHF_COMPRESSED != 0 { // a small file would have gigabytes of rows
		return nil, fmt.Errorf("section %s is compressed, which SFrame never is", s.Name)
	}
	data, err := im.SectionData(s)
	if err != nil {
		return nil, err
	}
	var stored []byte
	if im.Type == elf.ET_REL {
		stored = bytes.Clone(data)
		if err := relocate(im, f, i, data, l); err != nil {
			return nil, err
		}
	}
	parts, err := sframe.OpenParts(data, l[i])
	for _, p := range parts {
		one := Section{p, s.Name, i, nil}
		if stored != nil {
			one.stored = stored[p.Addr-l[i]:]
		}
		list = append(list, one)
	}
	if err != nil {
		return list, fmt.Errorf("section %s: %w", s.Name, err)
	}
	return list, nil
}

// extents are sections by their offset in the file. Sections that are read must not share bytes.
// Otherwise the file's size would not bound the memory that they take up.
type extents []*elfimage.Section

// add adds s and returns nil, or returns the section that shares bytes with it.
func (e *extents) add(s *elfimage.Section) (shares *elfimage.Section) {
	at, _ := slices.BinarySearchFunc(*e, s.Offset, func(other *elfimage.Section, off uint64) int { return cmp.Compare(other.Offset, off) })
	if at > 0 && (*e)[at-1].FileSize > s.Offset-(*e)[at-1].Offset {
		return (*e)[at-1]
	}
	if at < len(*e) && s.FileSize > (*e)[at].Offset-s.Offset {
		return (*e)[at]
	}
	*e = slices.Insert(*e, at, s)
	return nil
}

// Joined joins all sections that [Sections] returns. The error comes from Sections, or says which
// section cannot be read whole, or wraps [sframe.ErrDiffer].
func Joined(im *elfimage.Image, l Layout) (*sframe.Contents, error) {
	sections, err := Sections(im, l)
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

// Data returns the bytes of a section of im. If im is a relocatable object, they are relocated for
// sections that lie where l says. The error of a relocation wraps ErrRelocation.
func Data(im *elfimage.Image, s *elfimage.Section, l Layout) ([]byte, error) {
	data, err := im.SectionData(s)
	if err != nil || im.Type != elf.ET_REL {
		return data, err
	}
	f := im.ELF()
	if i := slices.Index(f.Sections, s); i >= 0 {
		return data, relocate(im, f, i, data, l)
	}
	return nil, fmt.Errorf("section %s is not of this file", s.Name)
}

// maxSize is the size, in bytes, of the largest file that Read takes for a section alone.
const maxSize int64 = 1 << 31

// Read returns the SFrame sections of a file of size bytes. The file is an ELF file (laid out
// AsLinked), or an SFrame section and nothing else. Such a section gets the address 0, the name
// .sframe and the Index -1. The error comes from [elfimage.Open], [elfimage.Image.SectionsError] or
// [Sections].
func Read(r io.ReaderAt, size int64) ([]Section, error) {
	var magic [2]byte
	if n, _ := r.ReadAt(magic[:], 0); n == len(magic) &&
		(binary.LittleEndian.Uint16(magic[:]) == sframe.Magic || binary.BigEndian.Uint16(magic[:]) == sframe.Magic) {
		if size > maxSize {
			return nil, fmt.Errorf("%#x bytes, expected at most %#x", size, uint64(maxSize))
		}
		data, err := elffile.ReadPart(elffile.Solid(r), 0, uint64(size))
		if err != nil {
			return nil, err
		}
		s, err := sframe.Open(data, 0)
		if err != nil {
			return nil, err
		}
		return []Section{{Section: s, Name: ".sframe", Index: -1}}, nil
	}
	im, err := elfimage.Open(r, size)
	if err == nil {
		err = im.SectionsError()
	}
	if err != nil {
		return nil, err
	}
	return Sections(im, AsLinked(im))
}
