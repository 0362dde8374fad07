package procmaps

import "github.com/sfwalk/sfwalk/target"

// File is a file that is mapped at one place, with all its mappings there.
type File struct {
	Mapping                   // the first of them
	Mappings []target.Mapping // ascending
	Code     bool             // at least one of them is executable, or a copy of the file's code lies among them

	writable   bool // at least one of the mappings is
	besideCopy bool // executable memory of no file lies among or beside them
}

// origin identifies a file.
type origin struct {
	major, minor uint32
	inode        uint64
	path         string
}

// Files groups the mappings of files, in the order of their first ones. It leaves out mappings
// without any permission, which only reserve addresses.
//
// A file has code, too, if executable memory of no file lies among its mappings: a program may have
// copied its code there, all of it.
func Files(maps []Mapping) []*File {
	var list []*File
	current := make(map[origin]*File)
	var below *File
	var copies []*Mapping // executable memory of no file behind below
	for i := range maps {
		m := &maps[i]
		shared := target.IsShared(m.Path)
		if m.Exec && (m.Inode == 0 && m.Path == "" || shared) {
			copies = append(copies, m)
		}
		if !m.IsFile() || !m.Read && !m.Write && !m.Exec {
			continue
		}
		key := origin{m.Major, m.Minor, m.Inode, m.Path}
		at := current[key]
		if at == nil || !at.add(m) {
			at = &File{Mapping: *m, Mappings: []target.Mapping{m.Target()}, Code: m.Exec, writable: m.Write}
			current[key] = at
			list = append(list, at)
		}
		if shared {
			continue
		}
		for _, c := range copies {
			if below == at || at.Offset > 0 && c.Hi == at.Lo {
				at.besideCopy = true
			}
			if below != nil && below.end() == c.Lo {
				below.besideCopy = true
			}
		}
		below, copies = at, copies[:0]
	}
	for _, c := range copies {
		if below != nil && below.end() == c.Lo {
			below.besideCopy = true
		}
	}
	for _, f := range list {
		f.Code = f.Code || f.besideCopy && f.writable // libraries and programs have data
	}
	return list
}

func (f *File) end() uint64 { return f.Mappings[len(f.Mappings)-1].Hi }

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
	f.writable = f.writable || m.Write
	return true
}

// Target returns the mapping as a [target.Mapping].
func (m *Mapping) Target() target.Mapping {
	to := target.Mapping{Lo: m.Lo, Hi: m.Hi, Offset: m.Offset, Exec: m.Exec}
	if m.Exec && isKernels(m.Path) && !m.IsVDSO() {
		to.Kernel = m.Path
	}
	return to
}

// IsVDSO reports whether m is the kernel's vDSO.
func (m *Mapping) IsVDSO() bool { return m.Path == "[vdso]" }
