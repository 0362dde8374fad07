package snapshot

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Write writes the snapshot as an ELF core file: the headers, then the notes, the copied memory,
// and the files. It holds no more in memory than the headers and the notes. The same snapshot gives
// the same bytes. The error says what a core file cannot hold, before anything is written, or is an
// error of w or of a file.
func (s *Snapshot) Write(w io.Writer) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("write snapshot of process %d: %w", s.PID, err)
	}
	maps := s.Maps
	segments := s.segments(maps)
	if len(segments) > maxSegments {
		maps = withCode(maps)
		segments = s.segments(maps)
	}
	if len(segments) > maxSegments {
		return fmt.Errorf("write snapshot of process %d: %d ranges of memory do not fit into a core file, which has up to %d", s.PID, len(segments), maxSegments)
	}
	notes, err := s.notes(maps)
	if err != nil {
		return fmt.Errorf("write snapshot of process %d: %w", s.PID, err)
	}
	headers, end := s.headers(len(notes)+len(s.Files)*carriedSize, segments)
	if s.Arch.Wrap(end) != end {
		return fmt.Errorf("write snapshot of process %d: %d bytes do not fit into a core file of %d bits", s.PID, end, 8*s.Arch.PtrSize)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(headers)
	out.Write(notes)
	out.Write(s.carriedNotes(end))
	for _, g := range segments {
		for _, part := range g.parts {
			out.Write(part)
		}
	}
	for _, f := range s.Files {
		n, err := io.Copy(out, io.NewSectionReader(f.Content, 0, f.Content.Size()))
		if err == nil && n < f.Content.Size() {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("write snapshot of process %d: the file mapped at %#x: %w", s.PID, f.Lo, err)
		}
	}
	return out.Flush() // returns the first error of any write
}

// layout is where fields of ELF's structures are, bytes.
type layout struct {
	ehdr, phdr   int // sizes of the structures
	phoff, sizes int // e_phoff; e_ehsize, before e_phentsize and e_phnum
	// In a program header.
	flags, offset, vaddr, filesz, memsz, align int
}

func (s *Snapshot) layout() layout {
	if s.Arch.Class() == elf.ELFCLASS32 {
		return layout{ehdr: 52, phdr: 32, phoff: 28, sizes: 40, offset: 4, vaddr: 8, filesz: 16, memsz: 20, flags: 24, align: 28}
	}
	return layout{ehdr: 64, phdr: 56, phoff: 32, sizes: 52, flags: 4, offset: 8, vaddr: 16, filesz: 32, memsz: 40, align: 48}
}

// maxSegments is how many segments e_phnum can count, beside the notes' segment.
const maxSegments = 0xffff - 2 // 0xffff says that the number is elsewhere

// page is the unit of the offsets in NT_FILE, bytes.
const page = 4096

var errOrder = errors.New("is not behind what comes before it")

// check finds what cannot be written, or could not be read again.
func (s *Snapshot) check() error {
	switch {
	case s.Arch == nil || len(s.Arch.KernelRegs) == 0:
		return errors.New("its architecture has no core files")
	case s.PID <= 0 || s.PID > math.MaxInt32:
		return fmt.Errorf("%d is no process", s.PID)
	case len(s.Threads) == 0:
		return errors.New("it has no thread")
	}
	for i := range s.Threads {
		if id := s.Threads[i].TID; id <= 0 || id > math.MaxInt32 {
			return fmt.Errorf("%d is no thread", id)
		}
	}
	at := uint64(0)
	for i := range s.Maps {
		m := &s.Maps[i]
		if m.Lo >= m.Hi || m.Lo < at {
			return fmt.Errorf("mapping %#x-%#x %w", m.Lo, m.Hi, errOrder)
		}
		if m.Offset%page != 0 {
			return fmt.Errorf("mapping %#x-%#x has offset %#x, which is no multiple of %#x", m.Lo, m.Hi, m.Offset, page)
		}
		at = m.Hi
	}
	if at > 0 && s.Arch.Wrap(at-1) != at-1 {
		return fmt.Errorf("there are mappings up to %#x, which do not fit into a core file of %d bits", at, 8*s.Arch.PtrSize)
	}
	at = 0
	for i := range s.Memory {
		b := &s.Memory[i]
		if b.End() < b.Addr || b.Addr < at {
			return fmt.Errorf("memory %#x-%#x %w", b.Addr, b.End(), errOrder)
		}
		at = b.End()
	}
	return nil
}

// segment is a range of addresses of one kind, with or without its bytes.
type segment struct {
	lo, hi uint64
	flags  elf.ProgFlag
	parts  [][]byte // one behind the other; nil for memory that was not copied
}

// segments returns the mappings, divided where copies begin and end, and the copies of memory that
// no mapping holds.
func (s *Snapshot) segments(maps []procmaps.Mapping) (list []segment) {
	blocks := s.Memory
	at := uint64(0)
	for i := range maps {
		m := &maps[i]
		var between, within []segment
		between, blocks = cut(at, m.Lo, blocks)
		within, blocks = cut(m.Lo, m.Hi, blocks)
		list = append(list, copied(between)...)
		for _, g := range within {
			g.flags = flags(m)
			list = append(list, g)
		}
		at = m.Hi
	}
	rest, _ := cut(at, math.MaxUint64, blocks)
	return append(list, copied(rest)...)
}

// cut divides the range [lo, hi) by the copies in blocks. rest is the blocks that end beyond hi, or
// lie there.
func cut(lo, hi uint64, blocks []Block) (list []segment, rest []Block) {
	for ; lo < hi && len(blocks) > 0 && blocks[0].Addr < hi; blocks = blocks[1:] {
		b := &blocks[0]
		if lo < b.Addr {
			list = append(list, segment{lo: lo, hi: b.Addr})
			lo = b.Addr
		}
		end := min(hi, b.End())
		if part := b.Data[lo-b.Addr : end-b.Addr]; len(part) > 0 {
			if n := len(list); n > 0 && list[n-1].parts != nil {
				list[n-1].hi, list[n-1].parts = end, append(list[n-1].parts, part)
			} else {
				list = append(list, segment{lo: lo, hi: end, parts: [][]byte{part}})
			}
		}
		if lo = end; b.End() > hi {
			return list, blocks
		}
	}
	if lo < hi {
		list = append(list, segment{lo: lo, hi: hi})
	}
	return list, blocks
}

// copied returns the copied parts of memory that no mapping holds. The process may have written to
// that memory.
func copied(list []segment) (parts []segment) {
	for _, g := range list {
		if g.parts != nil {
			g.flags = elf.PF_R | elf.PF_W
			parts = append(parts, g)
		}
	}
	return parts
}

func flags(m *procmaps.Mapping) (f elf.ProgFlag) {
	if m.Read {
		f |= elf.PF_R
	}
	if m.Write {
		f |= elf.PF_W
	}
	if m.Exec {
		f |= elf.PF_X
	}
	return f
}

// withCode returns the executable mappings, and all mappings of the files that have some.
func withCode(maps []procmaps.Mapping) (list []procmaps.Mapping) {
	files := map[string]bool{}
	for i := range maps {
		if m := &maps[i]; m.Exec && m.IsFile() {
			files[m.Path] = true
		}
	}
	for i := range maps {
		if m := &maps[i]; m.Exec || m.IsFile() && files[m.Path] {
			list = append(list, *m)
		}
	}
	return list
}

// headers makes the ELF header and the program headers, the notes' header first. end is the offset
// in the file behind all that the headers describe.
func (s *Snapshot) headers(notes int, segments []segment) (b []byte, end uint64) {
	order, l := s.Arch.Order, s.layout()
	data := elf.ELFDATA2LSB
	if order.Uint16([]byte{0, 1}) == 1 {
		data = elf.ELFDATA2MSB
	}
	b = make([]byte, l.ehdr+l.phdr*(1+len(segments)))
	copy(b, elf.ELFMAG)
	b[elf.EI_CLASS], b[elf.EI_DATA], b[elf.EI_VERSION] = byte(s.Arch.Class()), byte(data), byte(elf.EV_CURRENT)
	order.PutUint16(b[16:], uint16(elf.ET_CORE))
	order.PutUint16(b[18:], uint16(s.Arch.Machine))
	order.PutUint32(b[20:], uint32(elf.EV_CURRENT))
	s.Arch.PutWord(b[l.phoff:], uint64(l.ehdr))
	order.PutUint16(b[l.sizes:], uint16(l.ehdr))
	order.PutUint16(b[l.sizes+2:], uint16(l.phdr))
	order.PutUint16(b[l.sizes+4:], uint16(1+len(segments)))

	at := uint64(len(b))
	header := b[l.ehdr:]
	put := func(typ elf.ProgType, flags elf.ProgFlag, addr, inFile, inMemory, align uint64) {
		order.PutUint32(header, uint32(typ))
		order.PutUint32(header[l.flags:], uint32(flags))
		s.Arch.PutWord(header[l.offset:], at)
		s.Arch.PutWord(header[l.vaddr:], addr)
		s.Arch.PutWord(header[l.filesz:], inFile)
		s.Arch.PutWord(header[l.memsz:], inMemory)
		s.Arch.PutWord(header[l.align:], align)
		header = header[l.phdr:]
		at += inFile
	}
	put(elf.PT_NOTE, elf.PF_R, 0, uint64(notes), 0, 4)
	for _, g := range segments {
		size := uint64(0)
		for _, part := range g.parts {
			size += uint64(len(part))
		}
		put(elf.PT_LOAD, g.flags, g.lo, size, g.hi-g.lo, 1)
	}
	return b, at
}
