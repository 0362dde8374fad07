package separate

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/elfnote"
)

// ErrRelocatable means that the file is a relocatable object, whose addresses are not final.
var ErrRelocatable = errors.New("the file is a relocatable object, whose functions have no addresses yet")

const (
	headerSize  = 64 // of Elf64_Ehdr
	sectionSize = 64 // of Elf64_Shdr
	alignment   = 8
	pageSize    = 1 << 12
)

// Encode returns an ELF file with the header and the build ID of f, and c as an SFrame section. The
// section's address is behind everything that f loads. The error wraps [ErrRelocatable] or is an
// [*sframe.EncodeError].
func Encode(f *elf.File, c *sframe.Contents) ([]byte, error) {
	if f.Type == elf.ET_REL {
		return nil, ErrRelocatable
	}
	if f.Class != elf.ELFCLASS64 {
		return nil, fmt.Errorf("%v: want a file of 64 bits", f.Class)
	}
	addr := end(f)
	data, err := c.Encode(addr)
	if err != nil {
		return nil, err
	}
	w := writer{order: f.ByteOrder, names: []byte{0}}
	w.sections = []elf.Section64{{}}
	if id := BuildID(f); id != "" {
		raw, _ := hex.DecodeString(id) // BuildID has encoded it
		w.add(".note.gnu.build-id", elf.SHT_NOTE, elf.SHF_ALLOC, noteAddr(f), noteAlign, elfnote.Append(nil, w.order, elfnote.GNU, elfnote.BuildID, raw))
	}
	kind := elfimage.SHT_GNU_SFRAME
	if c.Version < sframe.V3 {
		kind = elf.SHT_PROGBITS
	}
	w.add(".sframe", kind, elf.SHF_ALLOC, addr, alignment, data)
	return w.file(f), nil
}

// end returns the address of the first page behind everything that a file loads.
func end(f *elf.File) uint64 {
	var end uint64
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			end = max(end, p.Vaddr+p.Memsz)
		}
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 {
			end = max(end, s.Addr+s.Size)
		}
	}
	return (end + pageSize - 1) &^ (pageSize - 1)
}

// A writer puts sections one after the other behind the header.
type writer struct {
	order    binary.ByteOrder
	sections []elf.Section64
	body     []byte
	names    []byte
}

func (w *writer) add(name string, kind elf.SectionType, flags elf.SectionFlag, addr, align uint64, data []byte) {
	for (headerSize+uint64(len(w.body)))%align != 0 {
		w.body = append(w.body, 0)
	}
	w.sections = append(w.sections, elf.Section64{
		Name: uint32(len(w.names)), Type: uint32(kind), Flags: uint64(flags),
		Addr: addr, Off: headerSize + uint64(len(w.body)), Size: uint64(len(data)), Addralign: align,
	})
	w.names = append(append(w.names, name...), 0)
	w.body = append(w.body, data...)
}

// file puts the header before the sections, and their headers behind them.
func (w *writer) file(f *elf.File) []byte {
	const strtab = ".shstrtab"
	all := append(append([]byte{}, w.names...), strtab+"\x00"...)
	at := len(w.names)
	w.add("", elf.SHT_STRTAB, 0, 0, 1, all)
	w.sections[len(w.sections)-1].Name = uint32(at)
	w.body = append(w.body, make([]byte, -len(w.body)&(alignment-1))...)

	h := elf.Header64{
		Type: uint16(f.Type), Machine: uint16(f.Machine), Version: uint32(elf.EV_CURRENT),
		Shoff: headerSize + uint64(len(w.body)), Ehsize: headerSize,
		Shentsize: sectionSize, Shnum: uint16(len(w.sections)), Shstrndx: uint16(len(w.sections) - 1),
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(f.Class), byte(f.Data), byte(elf.EV_CURRENT)
	h.Ident[elf.EI_OSABI], h.Ident[elf.EI_ABIVERSION] = byte(f.OSABI), f.ABIVersion
	var b bytes.Buffer
	binary.Write(&b, w.order, &h) // to a Buffer: cannot fail
	b.Write(w.body)
	binary.Write(&b, w.order, w.sections)
	return b.Bytes()
}

const (
	maxNote   = 1 << 16 // bytes in the largest block of notes that is read
	noteAlign = 4       // alignment of notes in bytes
)

// BuildID returns a file's build ID in hexadecimal, "" if there is none. The ID is in the section
// .note.gnu.build-id or in a note segment.
func BuildID(f *elf.File) string {
	id, _ := findNote(f)
	return id
}

func noteAddr(f *elf.File) uint64 {
	_, addr := findNote(f)
	return addr
}

// findNote returns the build ID and the address of its section or segment.
func findNote(f *elf.File) (id string, addr uint64) {
	if s := f.Section(".note.gnu.build-id"); s != nil && s.Size <= maxNote && s.Type == elf.SHT_NOTE {
		if data, err := s.Data(); err == nil {
			if id := elfimage.BuildID(data, f.ByteOrder, noteAlign); id != "" {
				return id, s.Addr
			}
		}
	}
	left := uint64(16 * maxNote) // bytes of segments to search
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE && p.Filesz <= maxNote && p.Filesz <= left && p.Align != 8 {
			left -= p.Filesz
			if data, err := io.ReadAll(p.Open()); err == nil {
				if id := elfimage.BuildID(data, f.ByteOrder, noteAlign); id != "" {
					return id, p.Vaddr
				}
			}
		}
	}
	return "", 0
}
