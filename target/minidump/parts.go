package minidump

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// part is what a module has of the addresses: no other module has any of it, however many claim to.
type part struct {
	index    int              // of the module in the dump
	end      uint64           // of its addresses: where it ends by the dump's word, or the next module begins
	mappings []target.Mapping // of its file, by the kernel's list; none if that does not say
}

// parts returns what the modules have, ascending. Modules without addresses are left out, and all
// but the first that begin at one.
func (f *files) parts() []part {
	list := make([]part, 0, len(f.dump.Modules))
	for i := range f.dump.Modules {
		if m := &f.dump.Modules[i]; m.Size > 0 && m.Base+m.Size > m.Base {
			list = append(list, part{index: i, end: m.Base + m.Size})
		}
	}
	at := func(p part) uint64 { return f.dump.Modules[p.index].Base }
	slices.SortStableFunc(list, func(a, b part) int { return cmp.Compare(at(a), at(b)) })
	list = slices.CompactFunc(list, func(a, b part) bool { return at(a) == at(b) })
	for i := range list[:max(len(list)-1, 0)] {
		list[i].end = min(list[i].end, at(list[i+1]))
	}
	return f.withMappings(list, at)
}

// withMappings gives each module the mappings of the file that is mapped at its base: names differ
// where links are, and some writers (LLDB) do not know how large a module is. They go up to where
// another module of the same file begins. It leaves out all but the first module of a mapping of no
// file.
func (f *files) withMappings(list []part, at func(part) uint64) []part {
	all := procmaps.Files(f.maps)
	ofFile := make(map[uint64]int, len(f.maps)) // by where a mapping begins
	for i, of := range all {
		for _, x := range of.Mappings {
			ofFile[x.Lo] = i
		}
	}
	modules := map[int][]*part{} // by file, ascending
	taken := map[int]bool{}      // mappings of no file
	kept := list[:0]
	for _, p := range list {
		i, holds := procmaps.Find(f.maps, at(p))
		named := holds && f.maps[i].Path != ""
		of, ofAny := 0, false
		if named {
			of, ofAny = ofFile[f.maps[i].Lo]
		}
		if named && !ofAny {
			if taken[i] {
				continue
			}
			taken[i] = true
			p.mappings = []target.Mapping{f.maps[i].Target()}
		}
		kept = append(kept, p)
		if ofAny {
			modules[of] = append(modules[of], &kept[len(kept)-1])
		}
	}
	for of, some := range modules {
		divide(all[of].Mappings, some, at)
	}
	return kept
}

// divide divides the mappings of a file among the modules that begin in it. The first has all of
// the mapping in which it begins.
func divide(mappings []target.Mapping, modules []*part, at func(part) uint64) {
	n := 0 // the next module
	for _, x := range mappings {
		if n == 0 {
			if x.Hi <= at(*modules[0]) {
				continue
			}
			n = 1
		}
		for ; n < len(modules) && at(*modules[n]) < x.Hi; n++ {
			if before := x; before.Lo < at(*modules[n]) {
				before.Hi = at(*modules[n])
				modules[n-1].mappings = append(modules[n-1].mappings, before)
				x.Offset += before.Hi - x.Lo
				x.Lo = before.Hi
			}
		}
		modules[n-1].mappings = append(modules[n-1].mappings, x)
	}
}

// regions returns the parts of the addresses [lo, hi) of a module as the system describes its
// memory: the whole of them if the dump does not say.
func (f *files) regions(lo, hi uint64) (list []target.Mapping) {
	at := lo
	first := sort.Search(len(f.regionsAt), func(i int) bool { return f.regionsAt[i].Lo >= lo })
	for _, r := range f.regionsAt[first:] {
		if r.Lo != at || r.Size == 0 || r.Size > hi-at {
			break
		}
		list = append(list, target.Mapping{Lo: r.Lo, Hi: r.Lo + r.Size, Offset: r.Lo - lo, Exec: r.Executable()})
		at += r.Size
	}
	if at != hi {
		return []target.Mapping{{Lo: lo, Hi: hi, Exec: true}}
	}
	return list
}

// byAddress returns the parts of the address space ascending; of several that begin at one address
// the first.
func byAddress(regions []minidump.Region) []minidump.Region {
	regions = slices.Clone(regions)
	slices.SortStableFunc(regions, func(a, b minidump.Region) int { return cmp.Compare(a.Lo, b.Lo) })
	return slices.CompactFunc(regions, func(a, b minidump.Region) bool { return a.Lo == b.Lo })
}
