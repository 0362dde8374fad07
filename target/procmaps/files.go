package procmaps

import "github.com/sfwalk/sfwalk/target"

// File is one place at which a file is mapped, by all its mappings there.
type File struct {
	Mapping                   // the first of them
	Mappings []target.Mapping // ascending
	Code     bool             // some of it may be executed
}

// origin tells files apart.
type origin struct {
	major, minor uint32
	inode        uint64
	path         string
}

// Files groups the mappings of files, in the order of their first ones. What is
// only reserved, without any permission, is left out.
func Files(maps []Mapping) []*File {
	var list []*File
	current := make(map[origin]*File)
	for i := range maps {
		m := &maps[i]
		if !m.IsFile() || !m.Read && !m.Write && !m.Exec {
			continue
		}
		key := origin{m.Major, m.Minor, m.Inode, m.Path}
		if at := current[key]; at != nil && at.add(m) {
			continue
		}
		at := &File{Mapping: *m, Mappings: []target.Mapping{m.Target()}, Code: m.Exec}
		current[key] = at
		list = append(list, at)
	}
	return list
}

// Modules makes the list of what is mapped: what module makes of each file that has code,
// and of the vDSO. Executable memory of no file is code, too.
func Modules(maps []Mapping, module func(*File) *target.Module) *target.Modules {
	var list []*target.Module
	var code []target.Mapping
	for _, f := range Files(maps) {
		if f.Code {
			list = append(list, module(f))
		}
	}
	for i := range maps {
		m := &maps[i]
		one := m.Target()
		one.Offset = 0
		switch {
		case m.IsFile():
		case m.IsVDSO():
			list = append(list, module(&File{Mapping: *m, Mappings: []target.Mapping{one}, Code: true}))
		case m.Exec:
			code = append(code, one)
		}
	}
	return target.NewModules(list, code)
}

// page is how far, in bytes, two segments of a file may overlap: they share one.
const page = 0x1000

// add takes a further mapping of the same file, unless it begins a second copy
// of it. Loaders map a file in the order of its offsets.
func (f *File) add(m *Mapping) bool {
	last := f.Mappings[len(f.Mappings)-1]
	if m.Offset < last.Offset || m.Offset+page < last.Offset+(last.Hi-last.Lo) {
		return false
	}
	f.Mappings = append(f.Mappings, m.Target())
	f.Code = f.Code || m.Exec
	return true
}

// Target returns the mapping as modules have it.
func (m *Mapping) Target() target.Mapping {
	return target.Mapping{Lo: m.Lo, Hi: m.Hi, Offset: m.Offset, Exec: m.Exec}
}

// IsVDSO reports whether it is the kernel's library.
func (m *Mapping) IsVDSO() bool { return m.Path == "[vdso]" }
