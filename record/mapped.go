package record

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// mapped is what a process has mapped. Processes that are copies of each other share it until one
// of them changes: many may be copies of one that has much.
type mapped struct {
	maps  []procmaps.Mapping // ascending
	users int
}

// share returns m for one more process.
func (m *mapped) share() *mapped {
	m.users++
	return m
}

// set replaces all that is mapped, which is no other process's.
func (m *mapped) set(e *engine, maps []procmaps.Mapping) {
	e.mappings += len(maps) - len(m.maps)
	m.maps = maps
}

// release says that a process needs m no more.
func (e *engine) release(m *mapped) {
	if m == nil {
		return
	}
	if m.users--; m.users == 0 {
		e.mappings -= len(m.maps)
	}
}

// with returns what is mapped with one more mapping: m, or where others have that, a copy.
func (e *engine) with(m *mapped, at procmaps.Mapping) *mapped {
	n := 2 // the parts of one that is there, and at
	if m.users > 1 {
		n += len(m.maps)
	}
	if !e.mayMap(n) || !e.mayName(&at) {
		return m
	}
	if m.users > 1 {
		m.users--
		m = &mapped{maps: slices.Clone(m.maps), users: 1}
		e.mappings += len(m.maps)
	}
	m.set(e, splice(m.maps, at))
	return m
}

// mayMap reports whether there is room for n more mappings. A small file could have many processes
// that all have many.
func (e *engine) mayMap(n int) bool {
	if e.file == nil || e.mappings+n <= maxRecorded {
		return true
	}
	e.opts.Warn("more than %d mappings of all processes together are not looked at: some code has no names", maxRecorded)
	return false
}

// mayName reports whether there is room for the path of a mapping, which it shares with mappings
// that have the same.
func (e *engine) mayName(at *procmaps.Mapping) bool {
	const entry = 64 // bytes that a path takes beside its own
	path, ok := e.paths[at.Path]
	if !ok {
		if e.pathBytes+len(at.Path)+entry > maxPathBytes {
			if e.file != nil {
				e.opts.Warn("more than %d MiB of paths of files are not looked at: some code has no names", maxPathBytes>>20)
				return false
			}
			clear(e.paths)
			e.pathBytes = 0
		}
		path = at.Path
		e.pathBytes += len(path) + entry
		e.paths[path] = path
	}
	at.Path = path
	return true
}

// splice adds a mapping, and takes away what was mapped there before.
func splice(maps []procmaps.Mapping, at procmaps.Mapping) []procmaps.Mapping {
	if len(maps) >= maxMappings {
		return maps
	}
	from, _ := slices.BinarySearchFunc(maps, at.Lo, func(m procmaps.Mapping, lo uint64) int { return cmp.Compare(m.Hi-1, lo) })
	to := from
	var with []procmaps.Mapping
	for ; to < len(maps) && maps[to].Lo < at.Hi; to++ {
		if left := maps[to]; left.Lo < at.Lo {
			left.Hi = at.Lo
			with = append(with, left)
		}
		if right := maps[to]; right.Hi > at.Hi {
			right.Offset += at.Hi - right.Lo
			right.Lo = at.Hi
			with = append(with, at, right)
		}
	}
	if n := len(with); n == 0 || with[n-1].Lo < at.Lo {
		with = append(with, at)
	}
	return slices.Replace(maps, from, to, with...)
}
