package symbol

import (
	"path"
	"strings"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// lineFiles are the files and directories of a line table. Their names are read when they are first
// asked for: a table has hundreds, of which few are shown.
type lineFiles struct {
	d           *debugInfo
	held        *holding // has the memory of names
	dirs, files []dwarfdata.LineFile
	names       []byte                   // of files whose names are in the table itself
	namesAt     uint64                   // where the table has them
	shown       []atomic.Pointer[string] // the names of files that were asked for

	unitDir string // DW_AT_comp_dir
	unit    string // the name of the unit's own file
}

// fileSize is the memory that a file takes up, without its name, in bytes.
const fileSize = 16 + 8 + 8

// name returns the name of a file; "" if it has none. It leaves the spelling of the compiler as it
// is. But like GDB, it calls the unit's own file by the unit's name.
func (l *lineFiles) name(i int) string {
	if i < 0 || i >= len(l.files) {
		return ""
	}
	if i < len(l.shown) {
		if name := l.shown[i].Load(); name != nil {
			return *name
		}
	}
	f := &l.files[i]
	name := l.text(f)
	if name != "" && !path.IsAbs(name) && uint64(f.Dir) < uint64(len(l.dirs)) {
		if dir := l.text(&l.dirs[f.Dir]); dir != "" {
			name = strings.TrimSuffix(dir, "/") + "/" + name
		}
	}
	if name != "" && name != l.unit && absolute(l.unitDir, name) == absolute(l.unitDir, l.unit) {
		name = l.unit
	}
	if i < len(l.shown) && l.held.take(len(name)) == nil && !l.shown[i].CompareAndSwap(nil, &name) {
		l.held.give(len(name))
	}
	return name
}

func (l *lineFiles) text(f *dwarfdata.LineFile) string {
	switch f.Form {
	case dwarfdata.FormString:
		c := dwarfdata.Reader{Data: l.names[min(f.Name-l.namesAt, uint64(len(l.names))):]}
		return l.d.counted(c.String(), nil)
	case dwarfdata.FormStrp:
		return l.d.counted(l.d.str.text(f.Name))
	case dwarfdata.FormLineStrp:
		return l.d.counted(l.d.lineStr.text(f.Name))
	}
	return ""
}

func absolute(dir, file string) string {
	if strings.HasPrefix(file, "/") {
		return file
	}
	return dir + "/" + file
}

// keepFiles keeps the lists of files of a table, whose header r has read, with the names in them.
func (r *linesReader) keepFiles(table []byte) bool {
	l := &r.program
	t := r.table
	t.dirs, t.files, t.namesAt = l.Dirs, l.Files, uint64(l.NamesFrom)
	names := table[l.NamesFrom:l.NamesTo]
	if r.held.take(len(names)) != nil {
		return false
	}
	t.names = append([]byte(nil), names...)
	return true
}

// addFiles keeps the files that the table's program has added.
func (r *linesReader) addFiles(table []byte) {
	t := r.table
	known := len(t.files)
	t.files = r.program.Files
	for i := known; i < len(t.files); i++ {
		f := &t.files[i]
		c := dwarfdata.Reader{Data: table, Off: int(f.Name)}
		name := c.CString(len(table))
		if r.held.take(len(name)+1) != nil {
			t.files = t.files[:i]
			return
		}
		f.Name = t.namesAt + uint64(len(t.names))
		t.names = append(append(t.names, name...), 0)
	}
}
