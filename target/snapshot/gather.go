package snapshot

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds on what [Snapshot.Gather] saves of files that will not be found at their paths, bytes.
const (
	maxFiles  = 1 << 30   // whole files
	maxMapped = 192 << 20 // the mapped parts of files that cannot be opened, and headers, together with the memory that is saved already;
	minMapped = 32 << 20  // this much in any case
)

// Gather adds what a reader of the snapshot needs beside the stacks. mem is the process's memory,
// and modules lists what is mapped in it; both should have served to walk the stacks before. Memory
// gets the headers of all mapped ELF files, which identify the files later, and the dynamic
// linker's list of them, which gdb reads. Files gets the opened files that this machine lacks at
// their paths: they were deleted or replaced, or are a container's. If a file cannot be opened,
// Memory gets all that is mapped of it. Gather fills in Modules. It leaves out what cannot be read.
func (s *Snapshot) Gather(mem target.Memory, modules *target.Modules) {
	if mem == nil {
		mem = target.NoMemory
	}
	p := &pages{mem: mem, have: map[uint64][]byte{}, left: maxMapped - min(s.size(), maxMapped-minMapped)}
	check := sysroot.New(sysroot.Options{Arch: s.Arch}, p)
	files := int64(maxFiles)
	for _, m := range modules.All() {
		if !strings.HasPrefix(m.Path, "/") {
			continue // the vDSO, which is copied
		}
		about := Module{Path: m.Path, Lo: m.Lo()}
		var im *elf.Image
		if m.ImageUsed() {
			im, _, _ = m.Image()
		}
		if inMemory, err := elf.OpenMapped(p, m.Lo(), m.Hi()-m.Lo()); err == nil && m.Mappings[0].Offset == 0 {
			about.BuildID = inMemory.BuildID
		}
		if about.BuildID == "" && im != nil {
			about.BuildID = im.BuildID // Go's linker leaves a build ID that only a section leads to
		}
		s.Modules = append(s.Modules, about)
		if im == nil || found(check, m) {
			continue
		}
		if file := im.File(); file != nil && file.Size() <= files {
			files -= file.Size()
			s.Files = append(s.Files, File{m.Lo(), file})
		} else if mappedSize(m) <= p.left {
			p.readAll(m)
		}
	}
	linkmap.Read(p, s.Arch, linkmap.ParseAuxv(s.Auxv, s.Arch), nil) // copies all memory that it reads
	s.AddRegistered(modules)
	// Some readers (elfutils) expect segments to begin and end at a page boundary.
	for i := range s.Memory {
		for _, at := range [...]uint64{s.Memory[i].Addr, s.Memory[i].End()} {
			if at%page != 0 {
				p.page(at&^(page-1), page)
			}
		}
	}
	s.AddMemory(p.blocks())
}

// AddRegistered adds the objects that the process has registered and that somebody has used, with
// the list that leads to them, as they were read. Memory that is already there stays: if there are
// copies of several moments, these should be added first.
func (s *Snapshot) AddRegistered(modules *target.Modules) {
	r := modules.Registered()
	if r.Copies == nil {
		return
	}
	var blocks []Block
	for _, c := range r.Copies() {
		blocks = append(blocks, Block{Addr: c.Addr, Data: c.Data})
	}
	s.AddMemory(blocks)
}

// found reports whether this machine has the mapped file at its path, and Open will be able to tell
// it from any other.
func found(check *sysroot.Files, m *target.Module) bool {
	im, file, err := elf.OpenFile(m.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	return im.BuildID != "" && check.Check(im, m.Mappings) == nil
}

// size returns how much memory is saved, bytes.
func (s *Snapshot) size() (n uint64) {
	for i := range s.Memory {
		n += uint64(len(s.Memory[i].Data))
	}
	return n
}

func mappedSize(m *target.Module) (size uint64) {
	for _, p := range m.Mappings {
		size += p.Hi - p.Lo
	}
	return size
}

// AddMemory adds copies. Where blocks overlap Memory, Memory stays.
func (s *Snapshot) AddMemory(blocks []Block) {
	blocks = slices.Clone(blocks)
	slices.SortStableFunc(blocks, byAddr)
	var more []Block
	done := uint64(0) // where the blocks before end
	for _, b := range blocks {
		if b.End() < b.Addr {
			continue // no process has memory at the end of all addresses
		}
		b.cut(done)
		done = max(done, b.End())
		for len(b.Data) > 0 {
			i := sort.Search(len(s.Memory), func(i int) bool { return s.Memory[i].End() > b.Addr })
			if i == len(s.Memory) || s.Memory[i].Addr >= b.End() {
				more = append(more, b)
				break
			}
			if have := &s.Memory[i]; b.Addr < have.Addr {
				more = append(more, Block{b.Addr, b.Data[:have.Addr-b.Addr], b.Late})
			}
			b.cut(s.Memory[i].End())
		}
	}
	s.Memory = append(s.Memory, more...)
	slices.SortFunc(s.Memory, byAddr)
}

// MarkLate compares Memory with blocks, copies of the same addresses at other moments, word by word
// (8 bytes). It marks words that differ as late, because Memory has room for one copy alone.
func (s *Snapshot) MarkLate(blocks []Block) {
	for _, b := range blocks {
		i := sort.Search(len(s.Memory), func(i int) bool { return s.Memory[i].End() > b.Addr })
		for ; i < len(s.Memory) && s.Memory[i].Addr < b.End(); i++ {
			have := s.Memory[i]
			at, end := max(b.Addr, have.Addr), min(b.End(), have.End())
			if have.Late || bytes.Equal(b.Data[at-b.Addr:end-b.Addr], have.Data[at-have.Addr:end-have.Addr]) {
				continue
			}
			parts := have.marked(&b)
			s.Memory = slices.Replace(s.Memory, i, i+1, parts...)
			i += len(parts) - 1
		}
	}
}

// marked returns b in parts. Those that differ from other are late.
func (b *Block) marked(other *Block) (parts []Block) {
	const word = 8
	for at := b.Addr; at < b.End(); {
		end := min(at&^(word-1)+word, b.End())
		data := b.Data[at-b.Addr : end-b.Addr]
		lo, hi := max(at, other.Addr), min(end, other.End())
		late := lo < hi && !bytes.Equal(b.Data[lo-b.Addr:hi-b.Addr], other.Data[lo-other.Addr:hi-other.Addr])
		if n := len(parts); n > 0 && parts[n-1].Late == late {
			parts[n-1].Data = b.Data[parts[n-1].Addr-b.Addr : end-b.Addr]
		} else {
			parts = append(parts, Block{at, data, late})
		}
		at = end
	}
	return parts
}

func byAddr(a, b Block) int { return cmp.Compare(a.Addr, b.Addr) }

// cut removes the beginning of b, below addr.
func (b *Block) cut(addr uint64) {
	if addr > b.Addr {
		n := min(addr-b.Addr, uint64(len(b.Data)))
		b.Addr, b.Data = b.Addr+n, b.Data[n:]
	}
}

// pages is memory that keeps the pages that were read of it.
type pages struct {
	mem  target.Memory
	have map[uint64][]byte // by the page's address
	left uint64            // how many bytes may still be read, for what is read leads to more, and is not trusted
}

// ReadMemory implements [target.Memory].
func (p *pages) ReadMemory(addr uint64, b []byte) (n int, err error) {
	for n < len(b) {
		at := addr + uint64(n)
		rest := b[n:]
		if at < addr || p.left < page {
			return n, target.ErrUnmapped
		}
		data := p.page(at&^(page-1), uint64(len(rest))+at%page)
		if data == nil {
			// The page may be readable in part: a copy of a stack ends in it, and the process has
			// the rest.
			got, err := p.mem.ReadMemory(at, rest[:min(uint64(len(rest)), page-at%page)])
			if n += got; err != nil {
				return n, err
			}
			continue
		}
		n += copy(rest, data[at%page:])
	}
	return n, nil
}

// readAll reads all mapped memory of a module.
func (p *pages) readAll(m *target.Module) {
	buf := make([]byte, min(mappedSize(m), 1<<20))
	for _, r := range m.Mappings {
		for at := r.Lo; at < r.Hi; at += uint64(len(buf)) {
			p.ReadMemory(at, buf[:min(r.Hi-at, uint64(len(buf)))])
		}
	}
}

// page returns the page at address at. It reads as many pages behind it as are needed for size
// bytes.
func (p *pages) page(at, size uint64) []byte {
	if data, ok := p.have[at]; ok {
		return data
	}
	count := uint64(1)
	for ; count*page < min(size, p.left) && at+count*page > at; count++ {
		if _, ok := p.have[at+count*page]; ok {
			break
		}
	}
	buf := make([]byte, count*page)
	n, _ := p.mem.ReadMemory(at, buf)
	p.left -= min(p.left, uint64(len(buf)))
	for i := uint64(0); (i+1)*page <= uint64(n); i++ {
		p.have[at+i*page] = buf[i*page : (i+1)*page : (i+1)*page]
	}
	return p.have[at]
}

// blocks returns all pages that were read.
func (p *pages) blocks() (list []Block) {
	mover, moves := p.mem.(target.RunningMemory)
	for at, data := range p.have {
		// The beginning of a page may be the end of a copy of a stack, which AddMemory cuts off.
		list = append(list, Block{at, data, moves && mover.MovedOn(at+page-1, 1)})
	}
	return list
}
