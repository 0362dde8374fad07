package snapshot

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/linkmap"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Bounds on what [Snapshot.Gather] saves of files, bytes.
const (
	maxImage  = 64 << 20  // of one
	maxImages = 256 << 20 // of all
)

// Gather reads from mem, the process's memory, what those who open the snapshot
// need beside the stacks, and adds it to Memory: the headers of all mapped ELF
// files, by which their files are known again; the dynamic linker's list of them,
// which gdb reads; and of files that are not at their paths on this machine (they
// were deleted, replaced, or are a container's) all that is mapped, to unwind by
// that. It fills in Modules. What cannot be read is left out.
func (s *Snapshot) Gather(mem target.Memory) {
	p := &pages{mem: mem, have: map[uint64][]byte{}}
	left := uint64(maxImages)
	for _, f := range procmaps.Files(s.Maps) {
		if !f.Code {
			continue
		}
		lo, hi := f.Mappings[0].Lo, f.Mappings[len(f.Mappings)-1].Hi
		m := Module{Path: f.Path, Lo: lo}
		mapped, err := target.MemoryImage(p, lo, hi-lo)
		if err == nil && f.Offset == 0 {
			m.BuildID = mapped.BuildID
		}
		s.Modules = append(s.Modules, m)
		if !onDisk(f, m.BuildID) {
			left -= s.image(p, f, min(left, maxImage))
		}
	}
	if s.Arch.PtrSize == 8 {
		linkmap.Read(p, s.Arch, linkmap.ParseAuxv(s.Auxv, s.Arch), nil) // for what it reads
	}
	// Some readers (elfutils) take it that segments begin and end with a page.
	for i := range s.Memory {
		for _, at := range [...]uint64{s.Memory[i].Addr, s.Memory[i].End()} {
			if at%page != 0 {
				p.page(at&^(page-1), page)
			}
		}
	}
	s.AddMemory(p.blocks())
}

// onDisk reports whether this machine has, at its path, the file that is mapped.
func onDisk(f *procmaps.File, id string) bool {
	if f.Deleted || id == "" {
		return false // or nobody can tell
	}
	im, file, err := target.OpenFile(f.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	return im.BuildID == id
}

// image reads all that is mapped of a file, if that is no more than limit bytes, and
// returns how much it was.
func (s *Snapshot) image(p *pages, f *procmaps.File, limit uint64) (size uint64) {
	for _, m := range f.Mappings {
		size += m.Hi - m.Lo
	}
	if size > limit {
		return 0
	}
	buf := make([]byte, 1<<20)
	for _, m := range f.Mappings {
		for at := m.Lo; at < m.Hi; at += uint64(len(buf)) {
			p.ReadMemory(at, buf[:min(m.Hi-at, uint64(len(buf)))])
		}
	}
	return size
}

// AddMemory adds copies. Where they overlap what Memory has, that stays.
func (s *Snapshot) AddMemory(blocks []Block) {
	blocks = slices.Clone(blocks)
	slices.SortStableFunc(blocks, byAddr)
	var more []Block
	done := uint64(0) // where the last of them has ended
	for _, b := range blocks {
		b.cut(done)
		done = max(done, b.End())
		for len(b.Data) > 0 {
			i := sort.Search(len(s.Memory), func(i int) bool { return s.Memory[i].End() > b.Addr })
			if i == len(s.Memory) || s.Memory[i].Addr >= b.End() {
				more = append(more, b)
				break
			}
			if have := &s.Memory[i]; b.Addr < have.Addr {
				more = append(more, Block{b.Addr, b.Data[:have.Addr-b.Addr]})
			}
			b.cut(s.Memory[i].End())
		}
	}
	s.Memory = append(s.Memory, more...)
	slices.SortFunc(s.Memory, byAddr)
}

func byAddr(a, b Block) int { return cmp.Compare(a.Addr, b.Addr) }

// cut takes away what lies below an address.
func (b *Block) cut(addr uint64) {
	if addr > b.Addr {
		n := min(addr-b.Addr, uint64(len(b.Data)))
		b.Addr, b.Data = b.Addr+n, b.Data[n:]
	}
}

// pages is memory that keeps, page by page, what was read of it.
type pages struct {
	mem  target.Memory
	have map[uint64][]byte // by the page's address
}

// ReadMemory implements [target.Memory].
func (p *pages) ReadMemory(addr uint64, b []byte) (n int, err error) {
	for n < len(b) {
		at := addr + uint64(n)
		if at < addr {
			return n, target.ErrUnmapped
		}
		data := p.page(at&^(page-1), uint64(len(b)-n)+at%page)
		if data == nil {
			// It may be there in part: where a copy of a stack ends, and the process has.
			got, err := p.mem.ReadMemory(at, b[n:])
			return n + got, err
		}
		n += copy(b[n:], data[at%page:])
	}
	return n, nil
}

// page returns the page at an address, and reads as many behind it as it takes to
// have size bytes.
func (p *pages) page(at, size uint64) []byte {
	if data, ok := p.have[at]; ok {
		return data
	}
	count := uint64(1)
	for ; count*page < size && at+count*page > at; count++ {
		if _, ok := p.have[at+count*page]; ok {
			break
		}
	}
	buf := make([]byte, count*page)
	n, _ := p.mem.ReadMemory(at, buf)
	for i := uint64(0); (i+1)*page <= uint64(n); i++ {
		p.have[at+i*page] = buf[i*page : (i+1)*page : (i+1)*page]
	}
	return p.have[at]
}

// blocks returns all that was read.
func (p *pages) blocks() (list []Block) {
	for at, data := range p.have {
		list = append(list, Block{at, data})
	}
	return list
}
