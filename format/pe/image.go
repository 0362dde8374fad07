package pe

import (
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// Image is a PE image.
type Image struct {
	Machine   uint16 // pe.IMAGE_FILE_MACHINE_AMD64, …
	Base      uint64 // where its linker would have it
	Size      uint32 // of the mapped image, bytes
	Timestamp uint32 // of its linker; some write a sum of the image
	Entry     uint32 // RVA of the entry point; 0 if there is none
	Sections  []Section

	dirs    []pe.DataDirectory
	source  io.ReaderAt // the file, or the mapped image
	mapped  bool
	header  uint32 // bytes of the headers
	coff    []Symbol
	untyped []Symbol // COFF symbols in code that are of no type

	once    sync.Once
	symbols *Symbols
}

// Section is a part of an image.
type Section struct {
	Name      string
	RVA, Size uint32 // as mapped, bytes
	offset    uint32 // in the file
	inFile    uint32 // bytes in the file; the rest is zero
	Code      bool   // code may run there
	Writable  bool
}

// maxSections is how many sections Windows loads.
const maxSections = 96

// ErrNotPE says that what was opened is no PE image.
var ErrNotPE = errors.New("it is no PE image")

// OpenFile opens a PE file. The caller closes the file when it is done with the image.
func OpenFile(path string) (*Image, *os.File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, nil, err
	}
	im, err := Open(file)
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return im, file, nil
}

// Open reads the headers of a PE file, and its COFF symbols. The error wraps [ErrNotPE].
func Open(r io.ReaderAt) (*Image, error) { return open(r, false) }

// OpenMapped reads the headers of an image in the memory of a process: r reads at distances from
// the image's base. The error wraps [ErrNotPE].
func OpenMapped(r io.ReaderAt) (*Image, error) { return open(r, true) }

func open(r io.ReaderAt, mapped bool) (*Image, error) {
	im := &Image{source: r, mapped: mapped}
	le := binary.LittleEndian
	var dos [64]byte
	if !im.at(0, dos[:]) || dos[0] != 'M' || dos[1] != 'Z' {
		return nil, ErrNotPE
	}
	at := int64(le.Uint32(dos[0x3c:]))
	var h [4 + coffSize]byte
	if !im.at(at, h[:]) || string(h[:4]) != "PE\x00\x00" {
		return nil, ErrNotPE
	}
	coff := h[4:]
	im.Machine, im.Timestamp = le.Uint16(coff), le.Uint32(coff[4:])
	sections, optional := le.Uint16(coff[2:]), int(le.Uint16(coff[16:]))
	if sections > maxSections {
		return nil, fmt.Errorf("%w: it has %d sections, more than %d", ErrNotPE, sections, maxSections)
	}
	at += int64(len(h))
	o := make([]byte, optional)
	if !im.at(at, o) || !im.readOptional(o) {
		return nil, fmt.Errorf("%w: it has no optional header", ErrNotPE)
	}
	table := make([]byte, sectionSize*int(sections))
	if !im.at(at+int64(optional), table) {
		return nil, fmt.Errorf("%w: it ends in the section table", ErrNotPE)
	}
	for ; len(table) > 0; table = table[sectionSize:] {
		flags := le.Uint32(table[36:])
		s := Section{
			Name: strings.TrimRight(string(table[:8]), "\x00"), Size: le.Uint32(table[8:]), RVA: le.Uint32(table[12:]),
			inFile: le.Uint32(table[16:]), offset: le.Uint32(table[20:]),
			Code: flags&pe.IMAGE_SCN_MEM_EXECUTE != 0, Writable: flags&pe.IMAGE_SCN_MEM_WRITE != 0,
		}
		if s.Size == 0 {
			s.Size = s.inFile
		}
		s.inFile = min(s.inFile, s.Size)
		im.Sections = append(im.Sections, s)
	}
	if !mapped { // else they are not there
		im.readCOFF(int64(le.Uint32(coff[8:])), le.Uint32(coff[12:]))
	}
	return im, nil
}

// Sizes of headers, in bytes.
const (
	coffSize    = 20
	sectionSize = 40
)

// at reads all of p at an offset of the file, or a distance from the base.
func (im *Image) at(off int64, p []byte) bool {
	n, _ := im.source.ReadAt(p, off)
	return n == len(p)
}

// readOptional reads the optional header: IMAGE_OPTIONAL_HEADER32 or 64.
func (im *Image) readOptional(b []byte) bool {
	le := binary.LittleEndian
	const pe32, pe64 = 0x10b, 0x20b
	if len(b) < 2 {
		return false
	}
	dirs := 96 // where the directories are
	if le.Uint16(b) == pe64 {
		dirs = 112
	} else if le.Uint16(b) != pe32 {
		return false
	}
	if len(b) < dirs {
		return false
	}
	if im.Base = uint64(le.Uint32(b[28:])); dirs == 112 {
		im.Base = le.Uint64(b[24:])
	}
	im.Entry, im.Size, im.header = le.Uint32(b[16:]), le.Uint32(b[56:]), le.Uint32(b[60:])
	n := min(int(le.Uint32(b[dirs-4:])), 16, (len(b)-dirs)/8)
	for i := range max(n, 0) {
		im.dirs = append(im.dirs, pe.DataDirectory{VirtualAddress: le.Uint32(b[dirs+8*i:]), Size: le.Uint32(b[dirs+8*i+4:])})
	}
	return true
}

// Mapped reports whether the image is read from memory.
func (im *Image) Mapped() bool { return im.mapped }

// ReadRVA reads what is mapped at a distance from the base: n is less than len(p) if not all of it
// is there.
func (im *Image) ReadRVA(rva uint32, p []byte) (n int) {
	if im.mapped {
		n, _ = im.source.ReadAt(p, int64(rva))
		return max(n, 0)
	}
	for n < len(p) {
		got := im.readPart(rva+uint32(n), p[n:])
		if got == 0 || uint64(rva)+uint64(n)+uint64(got) > 1<<32-1 {
			return n + got
		}
		n += got
	}
	return n
}

// readPart reads from one section of a file, or from its headers.
func (im *Image) readPart(rva uint32, p []byte) int {
	if rva < im.header {
		p = p[:min(len(p), int(im.header-rva))]
		n, _ := im.source.ReadAt(p, int64(rva))
		return n
	}
	s := im.Section(rva)
	if s == nil {
		return 0
	}
	at := rva - s.RVA
	p = p[:min(uint64(len(p)), uint64(s.Size-at))]
	if at >= s.inFile {
		clear(p)
		return len(p)
	}
	p = p[:min(uint64(len(p)), uint64(s.inFile-at))]
	n, _ := im.source.ReadAt(p, int64(s.offset)+int64(at))
	return n
}

// Section returns the section that is mapped at rva, nil if there is none.
func (im *Image) Section(rva uint32) *Section {
	for i := range im.Sections {
		if s := &im.Sections[i]; rva-s.RVA < s.Size {
			return s
		}
	}
	return nil
}

// Directory returns where the table of a directory entry is (pe.IMAGE_DIRECTORY_ENTRY_EXCEPTION);
// 0, 0 if there is none.
func (im *Image) Directory(entry int) (rva, size uint32) {
	if entry >= len(im.dirs) {
		return 0, 0
	}
	return im.dirs[entry].VirtualAddress, im.dirs[entry].Size
}

// CodeView returns the GUID and the age by which the image's symbols are found; ok is false if it
// has none.
func (im *Image) CodeView() (guid [16]byte, age uint32, ok bool) {
	const entrySize, codeView = 28, 2
	rva, size := im.Directory(pe.IMAGE_DIRECTORY_ENTRY_DEBUG)
	for ; size >= entrySize && size < 1<<16; rva, size = rva+entrySize, size-entrySize {
		var entry [entrySize]byte
		if im.ReadRVA(rva, entry[:]) < entrySize {
			break
		}
		var b [24]byte
		if binary.LittleEndian.Uint32(entry[12:]) != codeView || im.ReadRVA(binary.LittleEndian.Uint32(entry[20:]), b[:]) < len(b) || string(b[:4]) != "RSDS" {
			continue
		}
		return [16]byte(b[4:20]), binary.LittleEndian.Uint32(b[20:]), true
	}
	return guid, 0, false
}
