package core

import (
	"debug/elf"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/interval"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/target"
)

// addUnlisted adds a module for each ELF header in the core's memory that no other module holds,
// for the kernel dumps the first page of each mapped file. A library's name is in its dynamic
// section, if the core has that; its path is not known. If NT_FILE is whole, addUnlisted adds the
// vDSO alone.
func (l *loader) addUnlisted(exePath string, list []*target.Module) []*target.Module {
	known := held{modules: target.NewModules(list, nil)}
	tried, headers := 0, 0
	for i := range l.own.List {
		s := &l.own.List[i]
		var header [64]byte // Elf64_Ehdr
		if n, _ := l.own.ReadMemory(s.Lo, header[:]); n < len(header) || string(header[:4]) != elf.ELFMAG || known.has(s.Lo) {
			continue
		}
		headers += int(l.core.arch.Order.Uint16(header[56:])) // e_phnum
		if tried++; tried > maxSeen || headers > maxHeaders {
			l.files.Warn("the memory has more than %d beginnings of files, or %d program headers: modules from %#x on are left out", maxSeen, maxHeaders, s.Lo)
			break
		}
		im, err := elfimage.OpenMapped(l.own, s.Lo, maxImage)
		if err != nil || im.Machine != l.core.arch.Machine || im.Order != l.core.arch.Order || !l.wasLoaded(im, s.Lo) {
			continue
		}
		o := linkmap.Object{Bias: s.Lo - firstAddress(im), Header: s.Lo}
		if o.Path = im.SOName(); o.Path == "" && im.Entry != 0 && im.Entry+o.Bias == l.notes.auxv[linkmap.ATEntry] {
			o.Path, o.Program = exePath, true
		}
		switch {
		case o.Path == "" || l.notes.allFiles && !strings.HasPrefix(o.Path, "linux-vdso"):
			continue
		case strings.HasPrefix(o.Path, "linux-vdso"):
			m := l.files.Module("[vdso]", []target.Mapping{{Lo: s.Lo, Hi: s.Hi, Exec: true}})
			list = append(list, m)
			known.add(m)
			continue
		}
		if m, err := l.files.Object(o); err == nil && !known.overlaps(m) {
			list = append(list, m)
			known.add(m)
		}
	}
	return list
}

// maxSeen bounds how many files' headers are looked at; processes have hundreds. maxHeaders bounds
// their program headers in all; a file has a dozen, 65535 at most.
const maxSeen, maxHeaders = 4096, 1 << 16

// maxImage bounds the addresses that one file occupies.
const maxImage = 1 << 40

// firstAddress returns the address, by the image's own headers, where the file begins.
func firstAddress(im *elfimage.Image) uint64 {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD {
			return p.Vaddr - p.Off
		}
	}
	return 0
}

// wasLoaded reports whether the image at base was loaded, and not only read: its executable
// segments are executable in the core. An unchanged one may be missing, for gdb's cores leave it
// out.
func (l *loader) wasLoaded(im *elfimage.Image, base uint64) bool {
	loaded := false
	for _, p := range im.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		s := l.own.Find(base - firstAddress(im) + p.Vaddr)
		if s == nil && p.Flags&elf.PF_W != 0 || s != nil && p.Flags&elf.PF_X != 0 && s.Flags&elf.PF_X == 0 {
			return false
		}
		loaded = loaded || p.Flags&elf.PF_X != 0
	}
	return loaded
}

// held are the addresses that modules have.
type held struct {
	modules *target.Modules
	added   interval.Map[struct{}] // by headers that came since
}

func (h *held) has(addr uint64) bool {
	if h.modules.Find(addr) != nil {
		return true
	}
	_, ok := h.added.Find(addr)
	return ok
}

func (h *held) add(m *target.Module) {
	for _, p := range m.Mappings {
		if p.Lo < p.Hi {
			h.added.Put(p.Lo, p.Hi, struct{}{})
		}
	}
}

func (h *held) overlaps(m *target.Module) bool {
	for _, p := range m.Mappings {
		if h.has(p.Lo) || h.has(p.Hi-1) {
			return true
		}
	}
	return false
}
