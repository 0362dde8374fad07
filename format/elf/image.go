package elf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/elfnote"
)

// Image is one ELF file, or what is mapped of it. It reads each thing when a caller first asks for
// it. Addresses are the file's own (link time). An Image is safe for concurrent use.
type Image struct {
	Machine elf.Machine
	Order   binary.ByteOrder
	Class   elf.Class
	Type    elf.Type
	BuildID string // hexadecimal; "" if there is none
	Entry   uint64 // where the program begins; 0 for a library without an entry
	Progs   []elf.ProgHeader
	Path    string // of the file on this machine; "" if it was not opened by its path
	// Root is the folder that stood for the root of all paths when the file was opened, "" for this
	// machine's own root. Inside is the file's path below it. Files that belong to this one, such
	// as debug files, are to be opened below Root, too.
	Root, Inside string

	file     atomic.Pointer[File] // [Image.Join] may exchange it
	broken   error                // why the section headers were left out, nil if they were not
	r        io.ReaderAt          // ends at holes
	raw      io.ReaderAt          // does not
	size     int64
	there    int64                     // bytes that are not holes
	slid     uint64                    // how far the dynamic linker may have moved addresses in PT_DYNAMIC
	number   uint64                    // tells it from other images
	inMemory bool                      // it is what is mapped, not a file
	rules    machine                   // of Machine
	joining  sync.Mutex                // over Join
	budget   atomic.Pointer[Budget]    // shared with the other images of a process; nil where there is no bound
	standard func() (*elf.File, error) // reads the headers once more, when they are first asked for
	mu       sync.Mutex                // debug/elf's Section.Open changes the section
	expand   map[*Section]bool         // compressed sections that were asked for
	expanded uint64                    // bytes that these expand to
	counted  map[any]int64             // bytes that room was taken for, by section, or where in the file they are

	symsOnce    sync.Once
	objectsOnce sync.Once
	objects     *Symbols
	syms        *Symbols
	symsErr     error

	stubsOnce sync.Once
	stubs     []stubs

	memos sync.Map // key -> func() any

	wholes wholes // see FunctionEntry
}

// ErrNoSection says that an image has no such section.
var ErrNoSection = errors.New("no such section")

// ErrNotELF says that a file has another format, or is empty. That is no fault: programs map fonts,
// archives or a virtual machine's code, which have no symbols and no tables.
var ErrNotELF = elffile.ErrNotELF

// maxPrograms bounds the program headers of a file that is no core file; real ones have a dozen.
const maxPrograms = 1 << 16

// Open reads the headers of an ELF file of size bytes. r must stay
// readable for as long as the image is used. A file whose section headers are
// missing or broken is opened without sections: its segments still serve.
func Open(r io.ReaderAt, size int64) (*Image, error) {
	there := elffile.There(r, size)
	raw := io.NewSectionReader(r, 0, size)
	r = elffile.Solid(raw)
	head := elffile.Begin(r, size)
	defer head.End()
	f, broken, err := head.Read()
	switch {
	case errors.Is(err, ErrNotELF):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("read ELF headers: %w", err)
	case len(f.Programs) > maxPrograms && f.Type != elf.ET_CORE:
		return nil, fmt.Errorf("read ELF headers: %d program headers: more than %d are not believed", len(f.Programs), maxPrograms)
	}
	im := &Image{
		Machine: f.Machine, Order: f.ByteOrder, Class: f.Class, Type: f.Type, rules: machines[f.Machine],
		Entry: f.Entry, Progs: f.Programs,
		broken: broken, r: r, raw: raw, size: size, there: there, number: lastImage.Add(1),
	}
	im.standard = sync.OnceValues(func() (*elf.File, error) { return elffile.Standard(raw, size, len(f.Sections) > 0) })
	im.file.Store(f)
	im.BuildID = im.readBuildID(head)
	return im, nil
}

// OpenUnpacked is [Open] for a file that packed bytes on disk have become. What its own compressed
// sections become is bounded by these bytes, too.
func OpenUnpacked(r io.ReaderAt, size, packed int64) (*Image, error) {
	im, err := Open(r, size)
	if err == nil {
		im.there = min(im.there, packed)
	}
	return im, err
}

// File has the headers of an ELF file, Section has the header of a section.
type (
	File    = elffile.File
	Section = elffile.Section
)

// ELF returns the file's headers. After [Image.Join] it may
// return another value, without sections: a section's number is valid for one result alone.
func (im *Image) ELF() *File { return im.file.Load() }

// Standard returns the file as the standard library reads it. It has sections if [Image.ELF] had
// them at first, and reads them without a bound if they are compressed.
func (im *Image) Standard() (*elf.File, error) { return im.standard() }

// File returns the whole file; nil if the image is read from memory.
func (im *Image) File() *io.SectionReader {
	if im.inMemory {
		return nil
	}
	return io.NewSectionReader(im.raw, 0, im.size)
}

// OSFile returns the open file that is the image; nil if the image is read from elsewhere, or is a
// part of a file. Only the file's record and bytes may be read.
func (im *Image) OSFile() *os.File {
	r := im.raw
	for range 8 { // a part of a part
		part, ok := r.(*io.SectionReader)
		if !ok {
			break
		}
		outer, off, _ := part.Outer()
		if off != 0 {
			return nil
		}
		r = outer
	}
	if known, ok := r.(*elffile.Known); ok {
		return known.File
	}
	f, _ := r.(*os.File)
	return f
}

// Memo returns the result of build for this image and key, which all users of the image share. It
// calls build once, when key is first asked for.
func (im *Image) Memo(key any, build func() any) any {
	value, _ := im.memos.LoadOrStore(key, sync.OnceValue(build))
	return value.(func() any)()
}

// SectionsError says why the file's section headers cannot be read. It is nil if they can, or if
// the file has none.
func (im *Image) SectionsError() error { return im.broken }

// SizeOnDisk returns the bytes that the file takes up, without its holes.
func (im *Image) SizeOnDisk() int64 { return im.there }

// Readable returns an error if nearly all of the file is holes. Call it before you read a whole
// file, for a checksum, say: holes are read as zeros, and may take hours.
func (im *Image) Readable() error {
	const plain = 64 << 20
	if im.size > plain+8*im.there {
		return fmt.Errorf("%#x bytes, of which %#x are there: %w", im.size, im.there, elffile.ErrHole)
	}
	return nil
}

// Section returns the bytes and the address of the first section that has one
// of the names, decompressed if need be. The error wraps [ErrNoSection] where
// there is none, or none with contents.
func (im *Image) Section(names ...string) (data []byte, addr uint64, err error) {
	for _, name := range names {
		if s := im.ELF().Section(name); s != nil && s.Type != elf.SHT_NOBITS {
			data, err = im.SectionData(s)
			return data, s.Addr, err
		}
	}
	return nil, 0, fmt.Errorf("%s: %w", names[0], ErrNoSection)
}

// SectionType returns the first section of a type, like [Image.Section].
func (im *Image) SectionType(t elf.SectionType) (data []byte, addr uint64, err error) {
	for _, s := range im.ELF().Sections {
		if s.Type == t {
			data, err = im.SectionData(s)
			return data, s.Addr, err
		}
	}
	return nil, 0, fmt.Errorf("type %#x: %w", uint32(t), ErrNoSection)
}

// A compressed section may be maxRatio times as large as it is in the file, and small bytes more;
// and so may all compressed sections of a file together, which may share its bytes. Debug
// information compresses to a third, at best to a twentieth.
const maxRatio, small = 32, 4 << 20

// checkSize checks the size that a section claims: no more than the file's, and
// for a compressed one no more than maxRatio allows. The caller holds im.mu.
func (im *Image) checkSize(s *Section, size uint64, packed bool) error {
	limit := im.most()
	if packed {
		limit = min(limit, maxRatio*min(s.FileSize, uint64(im.there))+small)
	}
	if s.FileSize > min(uint64(im.size), im.most()) || size > limit {
		return fmt.Errorf("read section %s: %#x bytes, uncompressed %#x, in a file that has %#x bytes: it is not believed", s.Name, s.FileSize, size, im.there)
	}
	if !packed || im.expand[s] {
		return nil
	}
	if im.expanded+size > maxRatio*uint64(im.there)+small {
		return fmt.Errorf("read section %s: uncompressed %#x bytes, beside %#x of other sections, in a file that has %#x bytes: it is not believed",
			s.Name, size, im.expanded, im.there)
	}
	if im.expand == nil {
		im.expand = make(map[*Section]bool)
	}
	im.expand[s], im.expanded = true, im.expanded+size
	return nil
}

// packed returns a compressed section as debug/elf reads it; nil if the section is not compressed.
// The caller holds im.mu.
func (im *Image) packed(s *Section) (*elf.Section, error) {
	if s.Flags&elf.SHF_COMPRESSED == 0 && !strings.HasPrefix(s.Name, ".zdebug") {
		return nil, nil
	}
	f, err := im.Standard()
	if err != nil {
		return nil, err
	}
	i := slices.Index(im.ELF().Sections, s)
	if i < 0 || i >= len(f.Sections) {
		return nil, ErrNoSection
	}
	x := f.Sections[i]
	x.Open() // sets Size and the kind of compression of .zdebug sections
	if x.Flags&elf.SHF_COMPRESSED == 0 && x.Size == x.FileSize {
		return nil, nil
	}
	return x, nil
}

// SectionData reads a section of [Image.ELF], decompressed if need be. The bytes are the caller's.
// The error wraps [ErrNoSection] where the section has none in the file.
func (im *Image) SectionData(s *Section) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS {
		return nil, fmt.Errorf("read section %s: it has no bytes in this file: %w", s.Name, ErrNoSection)
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	packed, err := im.packed(s)
	if err != nil {
		return nil, fmt.Errorf("read section %s: %w", s.Name, err)
	}
	size := s.FileSize
	if packed != nil {
		size = packed.Size
	}
	if err := im.checkSize(s, size, packed != nil); err != nil {
		return nil, err
	}
	if err := im.roomFor(s, size, packed != nil); err != nil {
		return nil, err
	}
	var data []byte
	if packed == nil {
		data, err = im.bytes(s.Offset, s.FileSize) // Data takes 10 MiB before it finds a hole
	} else {
		data, err = packed.Data()
	}
	if err != nil {
		return nil, fmt.Errorf("read section %s: %w", s.Name, err)
	}
	return data, nil
}

// roomFor takes room for a section. For a compressed one, that includes all that is made of it. The
// caller holds im.mu.
func (im *Image) roomFor(s *Section, size uint64, packed bool) error {
	n := int64(size)
	if !packed {
		return im.roomOnce(s, n)
	}
	if !im.ReserveWork(n) || im.roomOnce(s, unpackedTimes*n) != nil {
		return fmt.Errorf("read section %s: %#x bytes that expand to %#x: %w", s.Name, s.FileSize, size, ErrBudget)
	}
	return nil
}

// Segment returns the bytes in the file, and the address, of the first segment of type t. The error
// wraps [ErrNoSection] where there is none.
func (im *Image) Segment(t elf.ProgType) (data []byte, addr uint64, err error) {
	for _, p := range im.Progs {
		if p.Type == t {
			im.mu.Lock()
			err = im.roomOnce(int64(p.Off), int64(p.Filesz))
			im.mu.Unlock()
			if err == nil {
				data, err = im.bytes(p.Off, p.Filesz)
			}
			if err != nil {
				err = fmt.Errorf("read segment of type %#x: %w", uint32(t), err)
			}
			return data, p.Vaddr, err
		}
	}
	return nil, 0, fmt.Errorf("segment of type %#x: %w", uint32(t), ErrNoSection)
}

// Loaded returns at most max bytes of the file from addr on. It stops at the end of the loadable
// segment that holds addr, and at a hole in the file. It returns nil if the file has no bytes
// there.
func (im *Image) Loaded(addr, max uint64) []byte {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && addr-p.Vaddr < p.Filesz {
			at := addr - p.Vaddr
			off, n := p.Off+at, min(p.Filesz-at, max, im.most())
			if off > uint64(im.size) || n > uint64(im.size)-off {
				return nil
			}
			data, err := elffile.ReadPart(im.r, int64(off), n)
			if err != nil && !errors.Is(err, elffile.ErrHole) {
				return nil
			}
			return data
		}
	}
	return nil
}

// ReadLoaded reads the file's bytes that are loaded from addr on into p, across segments. It
// returns the number of bytes, from the first on, that the file has.
func (im *Image) ReadLoaded(addr uint64, p []byte) (n int) {
	for n < len(p) {
		got := im.readLoaded(addr+uint64(n), p[n:])
		if got == 0 {
			break
		}
		n += got
	}
	return n
}

func (im *Image) readLoaded(addr uint64, p []byte) int {
	for _, s := range im.Progs {
		if s.Type == elf.PT_LOAD && addr-s.Vaddr < s.Filesz {
			at := addr - s.Vaddr
			n, _ := im.raw.ReadAt(p[:min(uint64(len(p)), s.Filesz-at)], int64(s.Off+at))
			return n
		}
	}
	return 0
}

// maxRead bounds one read of a file, in bytes. The largest real sections, of debug information,
// are smaller.
const maxRead = 1 << 31

// most bounds one read of the image, in bytes. All of the mapped memory may be one page, or not be
// there at all.
func (im *Image) most() uint64 {
	if im.inMemory {
		return 32 << 20
	}
	return maxRead
}

// bytes reads a part of the file. A file may have holes, or be memory that is
// not there. So bytes allocates no more than it can read.
func (im *Image) bytes(off, n uint64) ([]byte, error) {
	if off > uint64(im.size) || n > uint64(im.size)-off || n > im.most() {
		return nil, fmt.Errorf("bytes %#x to %#x lie beyond the end of the file (%#x bytes), or are too many", off, off+n, im.size)
	}
	if n > 0 && n <= nearPage {
		if data := make([]byte, n); im.readNear(data, int64(off)) {
			return data, nil
		}
	}
	data, err := elffile.ReadPart(im.r, int64(off), n)
	if err != nil {
		return nil, err
	}
	return data, nil
}

// readBuildID looks through the note segments, which stripping keeps. If a file has no segments, it
// looks through the note section.
func (im *Image) readBuildID(head *elffile.Headers) string {
	left := uint64(1 << 20) // to look through; files have some hundred bytes of notes
	for _, p := range im.Progs {
		if p.Type == elf.PT_NOTE && p.Filesz < 1<<16 && p.Filesz <= left && p.Off < uint64(im.size) {
			left -= p.Filesz
			if data, err := head.Bytes(int64(p.Off), p.Filesz); err == nil {
				if id := BuildID(data, im.Order, p.Align); id != "" {
					return id
				}
			}
		}
	}
	if s := im.ELF().Section(".note.gnu.build-id"); s != nil && s.FileSize < 1<<16 {
		if data, err := im.SectionData(s); err == nil {
			return BuildID(data, im.Order, s.Addralign)
		}
	}
	return ""
}

// BuildID finds NT_GNU_BUILD_ID in a block of ELF notes that is aligned to align
// bytes; "" if there is none.
func BuildID(notes []byte, order binary.ByteOrder, align uint64) string {
	pad := uint64(3)
	if align == 8 {
		pad = 7
	}
	for len(notes) >= 12 {
		name, desc, typ := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:])), order.Uint32(notes[8:])
		descAt := (12 + name + pad) &^ pad
		end := descAt + desc
		if end > uint64(len(notes)) {
			break
		}
		if typ == elfnote.BuildID && bytes.HasPrefix(notes[12:], []byte("GNU\x00")) && name == 4 {
			return hex.EncodeToString(notes[descAt:end])
		}
		end = (end + pad) &^ pad
		if end > uint64(len(notes)) {
			break
		}
		notes = notes[end:]
	}
	return ""
}
