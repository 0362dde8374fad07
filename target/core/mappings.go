package core

import (
	"cmp"
	"debug/elf"
	"slices"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Copied returns the range of addresses around addr that the core itself has bytes of. ok is false
// if it has none of addr.
func (t *Target) Copied(addr uint64) (lo, hi uint64, ok bool) {
	s := t.own.Find(addr)
	if s == nil || addr-s.Lo >= s.Has {
		return 0, 0, false
	}
	return s.Lo, s.Lo + s.Has, true
}

// Mappings returns what was mapped, ascending: the mappings of each module's file, and the other
// memory of the core, without a name. Devices and inodes are not known.
func (t *Target) Mappings() []procmaps.Mapping {
	var list []procmaps.Mapping
	for _, m := range t.modules.All() {
		for _, x := range m.Mappings {
			one := procmaps.Mapping{Lo: x.Lo, Hi: x.Hi, Offset: x.Offset, Path: m.Path, Read: true, Exec: x.Exec, Listed: true}
			if m.Path != "[vdso]" {
				one.Inode = aFile
			}
			if s := t.own.Find(x.Lo); s != nil {
				one.Read, one.Write = s.Flags&elf.PF_R != 0, s.Flags&elf.PF_W != 0
			}
			list = append(list, one)
		}
	}
	files := len(list)
	for _, s := range t.own.List {
		list = append(list, procmaps.Mapping{Lo: s.Lo, Hi: s.Hi, Read: s.Flags&elf.PF_R != 0, Write: s.Flags&elf.PF_W != 0, Exec: s.Flags&elf.PF_X != 0})
	}
	ascending := func(a, b procmaps.Mapping) int { return cmp.Compare(a.Lo, b.Lo) }
	named := list[:files]
	slices.SortStableFunc(named, ascending)
	var kept []procmaps.Mapping
	for _, m := range named {
		if n := len(kept); m.Lo < m.Hi && (n == 0 || kept[n-1].Hi <= m.Lo) {
			kept = append(kept, m)
		}
	}
	named = kept
	for _, m := range list[files:] { // ascending
		if i, _ := procmaps.Find(named, m.Lo); m.Lo < m.Hi && (i == len(named) || m.Hi <= named[i].Lo) && (len(kept) == len(named) || kept[len(kept)-1].Hi <= m.Lo) {
			kept = append(kept, m)
		}
	}
	slices.SortFunc(kept, ascending)
	return kept
}
