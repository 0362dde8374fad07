//go:build amd64

package live

import "github.com/sfwalk/sfwalk/target"

// origin is the file of a mapping: its identity and its name.
type origin struct {
	major, minor uint32
	inode        uint64
	path         string
}

// mappedFile is one place at which a file is mapped, by all its mappings there.
type mappedFile struct {
	origin
	deleted  bool
	mappings []target.Mapping
	exec     bool
}

// add takes a further mapping of the same file, unless it begins a second copy
// of it. Loaders map a file in the order of its offsets; two segments may share
// a page.
func (f *mappedFile) add(m *mapping) bool {
	last := f.mappings[len(f.mappings)-1]
	if m.offset < last.Offset || m.offset+pageSize < last.Offset+(last.Hi-last.Lo) {
		return false
	}
	f.mappings = append(f.mappings, target.Mapping{Lo: m.lo, Hi: m.hi, Offset: m.offset, Exec: m.exec})
	f.exec = f.exec || m.exec
	return true
}

// modules groups mappings into modules: files that have code mapped, and the
// vDSO. Executable memory of no file is code, too.
func (f *files) modules(maps []mapping) *target.Modules {
	var (
		found   []*mappedFile
		current = make(map[origin]*mappedFile)
		list    []*target.Module
		code    []target.Mapping
	)
	for i := range maps {
		m := &maps[i]
		one := target.Mapping{Lo: m.lo, Hi: m.hi, Offset: m.offset, Exec: m.exec}
		switch {
		case m.isFile():
			if !m.read && !m.write && !m.exec {
				continue // reserved between two segments: nothing is there
			}
			key := origin{m.major, m.minor, m.inode, m.path}
			if at := current[key]; at != nil && at.add(m) {
				continue
			}
			at := &mappedFile{origin: key, deleted: m.deleted, mappings: []target.Mapping{one}, exec: m.exec}
			current[key] = at
			found = append(found, at)
		case m.path == "[vdso]":
			lo, size := m.lo, m.hi-m.lo
			one.Offset = 0
			list = append(list, target.NewModule(m.path, []target.Mapping{one}, func() (*target.Image, error) {
				return target.MemoryImage(f.memory, lo, size)
			}))
		case m.exec:
			one.Offset = 0
			code = append(code, one)
		}
	}
	for _, at := range found {
		if at.exec {
			list = append(list, target.NewModule(at.path, at.mappings, func() (*target.Image, error) {
				return f.image(at)
			}))
		}
	}
	return target.NewModules(list, code)
}
