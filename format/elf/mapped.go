package elf

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

const (
	// maxHeaderRead bounds the program headers read from memory, in bytes: 65535 headers of 56.
	maxHeaderRead = 65535 * 56
	// maxBehind bounds the search for section headers behind the last segment, in bytes.
	maxBehind = 1 << 20
)

// ErrUnmapped says that an address cannot be read. It is target.ErrUnmapped, too.
var ErrUnmapped = errors.New("memory cannot be read")

// Memory is the address space of a process. [github.com/sfwalk/sfwalk/target.Memory] is one.
type Memory interface {
	// ReadMemory reads len(p) bytes at addr. It returns the number of bytes, from the
	// first on, that it could read, and an error if that is not all.
	ReadMemory(addr uint64, p []byte) (n int, err error)
}

// OpenMapped opens the ELF image that is mapped at base, for a module without a readable
// file (the vDSO, a deleted library). At most limit bytes are mapped there. OpenMapped uses section
// headers only if they are mapped, too, as the vDSO's are.
func OpenMapped(mem Memory, base, limit uint64) (*Image, error) {
	if mem == nil {
		return nil, fmt.Errorf("read ELF header at %#x: %w: there is none", base, ErrUnmapped)
	}
	r := &mappedFile{mem: mem, base: base}
	limit = min(limit, 1<<40) // sums of offsets below it do not overflow
	head := elffile.Begin(r, int64(limit))
	defer head.End()
	h, err := elffile.ReadHeader(head)
	if err != nil {
		return nil, err
	}
	entry := int64(32)
	if h.Is64 {
		entry = 56
	}
	if h.PhOff > limit || int64(h.PhNum)*entry > maxHeaderRead {
		return nil, fmt.Errorf("read ELF header: program headers at %#x lie beyond the mapping (%#x bytes)", h.PhOff, limit)
	}
	// Until the segments are known, the file's beginning is what is mapped first.
	programs, err := h.Programs(head)
	if err != nil {
		return nil, fmt.Errorf("read ELF headers in memory: %w", err)
	}
	var size uint64
	first := true
	for _, p := range programs {
		if p.Type != elf.PT_LOAD || p.Filesz > limit || p.Off > limit {
			continue
		}
		if first {
			r.base = base - (p.Vaddr - p.Off)
			first = false
		}
		r.segs = append(r.segs, p)
		size = max(size, p.Off+p.Filesz)
	}
	// The last segment's page is mapped whole, and the vDSO has its section headers there. They
	// may continue on more pages: the kernel maps all of the vDSO's file.
	size = (size + 0xfff) &^ 0xfff
	if end := (h.SectionsEnd() + 0xfff) &^ 0xfff; end > size && end <= min(size+maxBehind, limit) {
		r.behind(size, end)
		size = end
	}
	im, err := Open(r, int64(size))
	if err == nil && !im.sectionsFit() { // memory has something else in the headers' place
		im, err = Open(h.WithoutSections(r), int64(size))
	}
	if err == nil {
		im.slid, im.inMemory = r.base, true
	}
	return im, err
}

// sectionsFit reports whether the section headers are of the file whose segments there are: what
// is loaded lies as far from a segment's beginning in memory as it does in the file.
func (im *Image) sectionsFit() bool {
	loaded := func(s *Section) bool {
		for _, p := range im.Progs {
			if p.Type == elf.PT_LOAD && s.Addr-p.Vaddr < p.Memsz {
				return s.Type == elf.SHT_NOBITS || s.Addr-p.Vaddr == s.Offset-p.Off
			}
		}
		return s.Size == 0
	}
	for _, s := range im.ELF().Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_TLS == 0 && !loaded(s) {
			return false
		}
	}
	return true
}

// mappedFile reads the loaded segments of a mapped ELF file, by offsets in the file.
type mappedFile struct {
	mem  Memory
	base uint64 // load bias, once segs are known; before that the address of the file's first byte
	segs []elf.ProgHeader
	rest *elf.ProgHeader // the pages behind the last segment; nil if they are not wanted
}

// behind also makes the file's bytes from lo to hi readable. They follow the last segment in memory
// as they do in the file, unless that segment ends with .bss.
func (r *mappedFile) behind(lo, hi uint64) {
	for _, s := range r.segs {
		if (s.Off+s.Filesz+0xfff)&^0xfff == lo && s.Memsz <= s.Filesz {
			r.rest = &elf.ProgHeader{Vaddr: s.Vaddr + (lo - s.Off), Off: lo, Filesz: hi - lo}
		}
	}
}

func (r *mappedFile) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		addr, room, ok := r.address(uint64(off) + uint64(n))
		if !ok {
			return n, io.ErrUnexpectedEOF
		}
		part := p[n:min(uint64(len(p)), uint64(n)+room)]
		got, err := r.mem.ReadMemory(addr, part)
		n += got
		if err == nil && got < len(part) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// address returns the place of the file's byte off in memory, and the number of bytes that follow
// it there.
func (r *mappedFile) address(off uint64) (addr, room uint64, ok bool) {
	if len(r.segs) == 0 {
		return r.base + off, ^uint64(0) >> 1, true
	}
	// A page that two segments share is mapped twice. A byte is read in the mapping of its own
	// segment: the process may have written to it there, and a core file is more likely to have it.
	for _, s := range r.segs {
		if off-s.Off < s.Filesz {
			return r.base + s.Vaddr + (off - s.Off), s.Off + s.Filesz - off, true
		}
	}
	const page = 0xfff
	for _, s := range r.segs {
		lo := s.Off &^ page
		hi := (s.Off + s.Filesz + page) &^ page
		if s.Memsz > s.Filesz {
			hi = s.Off + s.Filesz // zeros of .bss follow, not the file
		}
		if off >= lo && off < hi {
			return r.base + s.Vaddr + (off - s.Off), hi - off, true
		}
	}
	if s := r.rest; s != nil && off-s.Off < s.Filesz {
		return r.base + s.Vaddr + (off - s.Off), s.Off + s.Filesz - off, true
	}
	return 0, 0, false
}
