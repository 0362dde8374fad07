package procmaps

import "github.com/sfwalk/sfwalk/target"

// File is a file that is mapped at one place, with all its mappings there.
type File struct {
	Mapping                   // the first of them
	Mappings []target.Mapping // ascending
	Code     bool             // at least one of them is executable
}

// origin identifies a file.
type origin struct {
	major, minor uint32
	inode        uint64
	path         string
}

// Files groups the mappings of files, in the order of their first ones. It leaves out mappings
// without any permission, which only reserve addresses.
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

// Modules makes a list of modules. It calls module for each file that has code, and for the vDSO.
// Executable memory of no file is listed as code, too.
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

// page is how far two segments of a file may overlap, bytes, because they may share a page.
const page = 0x1000

// add adds m to f, and reports whether it did. A second copy of the file begins a File of its own:
// loaders map a file in the order of its offsets.
func (f *File) add(m *Mapping) bool {
	last := f.Mappings[len(f.Mappings)-1]
	if m.Offset < last.Offset || m.Offset+page < last.Offset+(last.Hi-last.Lo) {
		return false
	}
	f.Mappings = append(f.Mappings, m.Target())
	f.Code = f.Code || m.Exec
	return true
}

// Target returns the mapping as a [target.Mapping].
func (m *Mapping) Target() target.Mapping {
	return target.Mapping{Lo: m.Lo, Hi: m.Hi, Offset: m.Offset, Exec: m.Exec}
}

// IsVDSO reports whether m is the kernel's vDSO.
func (m *Mapping) IsVDSO() bool { return m.Path == "[vdso]" }
