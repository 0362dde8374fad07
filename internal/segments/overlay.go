package segments

import (
	"debug/elf"
	"sort"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Overlay is the whole memory. It has the file's own bytes and, for unwritable memory that the file
// leaves out, the bytes of the mapped files.
type Overlay struct {
	Own     *Memory
	Modules *target.Modules
}

// Window implements [target.CopiedMemory]. It lends the file's own bytes only.
func (m *Overlay) Window(addr uint64) (lo uint64, data []byte) { return m.Own.Window(addr) }

// ReadMemory implements [target.Memory].
func (m *Overlay) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		got, err := m.Own.ReadMemory(addr+uint64(n), p[n:])
		if n += got; n == len(p) {
			break
		}
		if got = m.fromFile(addr+uint64(n), p[n:]); got == 0 {
			return n, err
		}
		n += got
	}
	return n, nil
}

// fromFile reads from the file that is mapped at addr, up to the next bytes of the memory's own.
func (m *Overlay) fromFile(addr uint64, p []byte) int {
	s := m.Own.Find(addr)
	if s != nil {
		if s.Flags&elf.PF_W != 0 {
			return 0 // the process may have written to it
		}
		p = p[:min(uint64(len(p)), s.Hi-addr)]
	} else if i := sort.Search(len(m.Own.List), func(i int) bool { return m.Own.List[i].Lo > addr }); i < len(m.Own.List) {
		p = p[:min(uint64(len(p)), m.Own.List[i].Lo-addr)]
	}
	module := m.Modules.FindFile(addr)
	if module == nil || module.Doubted() {
		return 0
	}
	im, bias, err := module.Image()
	if err != nil {
		return fromPE(module, addr, p, s == nil)
	}
	if s == nil && writable(im, addr-bias) {
		return 0
	}
	return im.ReadLoaded(addr-bias, p)
}

// fromPE reads from the PE file that is mapped at addr. sure says that all of it that is not
// writable counts.
func fromPE(module *target.Module, addr uint64, p []byte, sure bool) int {
	im, err := module.PE()
	if err != nil || im.Mapped() || addr-module.Base() >= uint64(im.Size) {
		return 0
	}
	rva := uint32(addr - module.Base())
	if s := im.Section(rva); s != nil {
		if sure && s.Writable {
			return 0
		}
		p = p[:min(uint64(len(p)), uint64(s.Size-(rva-s.RVA)))]
	}
	return im.ReadRVA(rva, p)
}

// writable reports whether the program may write to its memory at a link-time address.
func writable(im *elfimage.Image, addr uint64) bool {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && addr-p.Vaddr < p.Memsz && p.Flags&elf.PF_W != 0 {
			return true
		}
	}
	return false
}
