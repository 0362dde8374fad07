package core

import (
	"debug/elf"

	"github.com/sfwalk/sfwalk/internal/segments"
)

// memory returns the memory that the core itself has.
func (f *file) memory() *segments.Memory {
	var list []segments.Segment
	for _, p := range f.progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 || p.Vaddr+p.Memsz < p.Vaddr {
			continue
		}
		s := segments.Segment{Lo: p.Vaddr, Hi: p.Vaddr + p.Memsz, Off: p.Off, Flags: p.Flags}
		if p.Off < uint64(f.size) {
			s.Has = min(p.Filesz, p.Memsz, uint64(f.size)-p.Off)
		}
		list = append(list, s)
	}
	return segments.New(f.r, list)
}
