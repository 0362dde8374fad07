package dwarf

import "slices"

// LineFile is a file, or a directory, of a line table.
type LineFile struct {
	Name uint64 // offset in the table, in .debug_str or in .debug_line_str
	Form Form   // FormString, FormStrp or FormLineStrp, in this order; 0 for no name
	Dir  uint32 // index of the directory; NoDir for none
}

// NoDir is the index of no directory.
const NoDir = 1<<32 - 1

// Entry formats of the lists of files and directories of DWARF 5 (table 7.27).
const (
	lnctPath      = 1
	lnctDirectory = 2
)

// readFiles reads the lists of directories and files.
func (l *Lines) readFiles() {
	from := l.r.Off
	if l.Version < 5 {
		l.Dirs, l.Files = append(l.Dirs, LineFile{}), append(l.Files, LineFile{})
		l.readOldDirs()
		l.readOldFiles()
		l.NamesFrom = from
	} else {
		var inTable, more bool
		l.Dirs, inTable = l.readList(l.Dirs)
		if l.Files, more = l.readList(l.Files); inTable || more {
			l.NamesFrom = from
		}
	}
	if l.NamesFrom > 0 {
		l.NamesTo = l.r.Off
	}
}

// more takes the memory for n more directories or files.
func (l *Lines) more(n uint64) bool {
	if l.More != nil && !l.More(int(n)) {
		l.r.Bad = true
	}
	return !l.r.Bad
}

// readList reads a DWARF 5 list of directories or files. inTable says that the list itself has
// names.
func (l *Lines) readList(list []LineFile) (_ []LineFile, inTable bool) {
	r := &l.r
	var room [8][2]uint64 // most tables have one or two, some have a checksum, too
	formats := room[:0]
	for range r.U8() {
		formats = append(formats, [2]uint64{r.ULEB128(), r.ULEB128()})
	}
	count := r.ULEB128()
	if count > r.Left() || count > 0 && len(formats) == 0 { // an entry has at least one byte
		r.Bad = true
	}
	if r.Bad || !l.more(count) {
		return list, false
	}
	list = slices.Grow(list, int(min(count, 1<<12)))
	for ; count > 0 && !r.Bad; count-- {
		f := LineFile{Dir: NoDir}
		for _, x := range formats {
			v := l.readForm(Form(x[1]))
			inTable = inTable || v.Form == FormString
			switch {
			case x[0] == lnctPath && v.Form != 0:
				f.Name, f.Form = v.Name, v.Form
			case x[0] == lnctDirectory && v.Form == 0:
				f.Dir = uint32(min(v.Name, NoDir))
			}
		}
		list = append(list, f)
	}
	return list, inTable
}

// readForm reads a value: a name, or a number, which has no form then.
func (l *Lines) readForm(f Form) (v LineFile) {
	r := &l.r
	switch f {
	case FormString:
		v = LineFile{Name: uint64(r.Off), Form: f}
		r.CString(len(r.Data))
	case FormStrp, FormLineStrp:
		v = LineFile{Name: r.Uint(l.offsetSize), Form: f}
	case FormData1, FormData2, FormData4, FormData8:
		v.Name = r.Uint(f.Size(Encoding{}))
	case FormData16:
		r.Take(16)
	case FormUdata:
		v.Name = r.ULEB128()
	case FormBlock:
		r.Take(r.ULEB128())
	default:
		r.Bad = true
	}
	return v
}

// readOldDirs reads the list of directories of DWARF 2 to 4.
func (l *Lines) readOldDirs() {
	r := &l.r
	for {
		at := uint64(r.Off)
		if len(r.CString(len(r.Data))) == 0 || !l.more(1) {
			return
		}
		l.Dirs = append(l.Dirs, LineFile{Name: at, Form: FormString})
	}
}

// readOldFiles reads the list of files of DWARF 2 to 4.
func (l *Lines) readOldFiles() {
	r := &l.r
	for {
		at := uint64(r.Off)
		if len(r.CString(len(r.Data))) == 0 {
			return
		}
		if l.oldFile(r, at); r.Bad {
			return
		}
	}
}

// oldFile reads what follows the name of a file, which is at an offset of the table, and adds the
// file.
func (l *Lines) oldFile(r *Reader, at uint64) {
	dir := r.ULEB128()
	r.ULEB128() // time
	r.ULEB128() // length
	if r.Bad || !l.more(1) {
		r.Bad = true
		return
	}
	l.Files = append(l.Files, LineFile{Name: at, Form: FormString, Dir: uint32(min(dir, NoDir))})
}
