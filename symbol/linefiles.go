package symbol

import (
	"fmt"
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
	dirs, files []lineFile
	names       []byte                   // of those whose names are in the table itself
	shown       []atomic.Pointer[string] // the names of files that were asked for

	unitDir string // DW_AT_comp_dir
	unit    string // the name of the unit's own file
}

// lineFile is a file, or a directory.
type lineFile struct {
	name uint64         // offset in names, .debug_str or .debug_line_str
	in   dwarfdata.Form // formString, formStrp or formLineStrp; 0 for no name
	dir  uint32         // index of the directory
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
	if name != "" && !path.IsAbs(name) && uint64(f.dir) < uint64(len(l.dirs)) {
		if dir := l.text(&l.dirs[f.dir]); dir != "" {
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

func (l *lineFiles) text(f *lineFile) string {
	switch f.in {
	case dwarfdata.FormString:
		c := dwarfdata.Reader{Data: l.names[min(f.name, uint64(len(l.names))):]}
		return l.d.counted(c.String(), nil)
	case dwarfdata.FormStrp:
		return l.d.counted(l.d.str.text(f.name))
	case dwarfdata.FormLineStrp:
		return l.d.counted(l.d.lineStr.text(f.name))
	}
	return ""
}

func absolute(dir, file string) string {
	if strings.HasPrefix(file, "/") {
		return file
	}
	return dir + "/" + file
}

// readHeader reads the header of a line table, with its lists of files (DWARF 5, section 6.2.4). It
// returns the line number program.
func (r *linesReader) readHeader(table []byte) (program dwarfdata.Reader, err error) {
	c := dwarfdata.New(table, r.d.order)
	_, r.offsetSize = c.UnitLength()
	version := c.Uint(2)
	if version < 2 || version > 5 {
		return c, fmt.Errorf("line table at %#x: version %d, not 2 to 5", r.off, version)
	}
	if r.old = version < 5; !r.old {
		r.addrSize = int(c.Uint(1))
		c.Uint(1) // segment selector size
	}
	size := c.Uint(r.offsetSize)
	if size > c.Left() {
		return c, fmt.Errorf("line table at %#x: header length %#x, %#x are left", r.off, size, c.Left())
	}
	begin := c.Off + int(size)
	r.minLength, r.maxOps = c.Uint(1), 1
	if version >= 4 {
		r.maxOps = c.Uint(1)
	}
	r.statements = c.Uint(1) != 0
	lineBase, lineRange := int(int8(c.Uint(1))), int(c.Uint(1))
	base := int(c.Uint(1))
	r.operands = c.Take(uint64(max(base-1, 0)))
	if !c.Bad && (lineRange == 0 || r.maxOps == 0 || base == 0) {
		return c, fmt.Errorf("line table at %#x: line range %d, %d operations in an instruction, first special opcode %d: none may be 0",
			r.off, lineRange, r.maxOps, base)
	}
	r.names = c.Off
	if r.old {
		r.readOldDirs(&c)
		r.readOldFiles(&c)
	} else {
		r.table.dirs = r.readNames(&c)
		r.table.files = r.readNames(&c)
	}
	if r.inTable {
		if r.held.take(c.Off-r.names) != nil {
			c.Bad = true
		}
		r.table.names = append([]byte(nil), table[r.names:c.Off]...)
	}
	if c.Bad {
		r.table.dirs, r.table.files = nil, nil
		return c, fmt.Errorf("line table at %#x: its lists of files are cut off, too long, or of unknown form", r.off)
	}
	for op := base; op < len(r.advance); op++ {
		r.advance[op], r.steps[op] = uint8((op-base)/lineRange), int16(lineBase+(op-base)%lineRange)
	}
	return dwarfdata.New(table[begin:], r.d.order), nil
}

// readNames reads a DWARF 5 list of directories or files.
func (r *linesReader) readNames(c *dwarfdata.Reader) (list []lineFile) {
	formats := make([][2]uint64, c.Uint(1))
	for i := range formats {
		formats[i] = [2]uint64{c.ULEB128(), c.ULEB128()}
	}
	count := c.ULEB128()
	if count > c.Left() || count > 0 && len(formats) == 0 { // an entry has at least one byte
		c.Bad = true
		return nil
	}
	if r.held.take(fileSize*int(count)) != nil {
		c.Bad = true
		return nil
	}
	list = make([]lineFile, 0, count)
	for ; count > 0 && !c.Bad; count-- {
		f := lineFile{dir: noDir}
		for _, x := range formats {
			v := r.readForm(c, dwarfdata.Form(x[1]))
			switch {
			case x[0] == dwarfdata.LNCTPath && v.in != 0:
				f.name, f.in = v.name, v.in
			case x[0] == dwarfdata.LNCTDirectory && v.in == 0:
				f.dir = uint32(min(v.name, noDir))
			}
		}
		list = append(list, f)
	}
	return list
}

// noDir is the index of no directory.
const noDir = 1<<32 - 1

// readForm reads a value: a name, or a number, which has no form then.
func (r *linesReader) readForm(c *dwarfdata.Reader, f dwarfdata.Form) (v lineFile) {
	switch f {
	case dwarfdata.FormString:
		v = lineFile{name: uint64(c.Off - r.names), in: f}
		c.CString(len(c.Data))
		r.inTable = true
	case dwarfdata.FormStrp, dwarfdata.FormLineStrp:
		v = lineFile{name: c.Uint(r.offsetSize), in: f}
	case dwarfdata.FormData1:
		v.name = c.Uint(1)
	case dwarfdata.FormData2:
		v.name = c.Uint(2)
	case dwarfdata.FormData4:
		v.name = c.Uint(4)
	case dwarfdata.FormData8:
		v.name = c.Uint(8)
	case dwarfdata.FormData16:
		c.Take(16)
	case dwarfdata.FormUdata:
		v.name = c.ULEB128()
	case dwarfdata.FormBlock:
		c.Take(c.ULEB128())
	default:
		c.Bad = true
	}
	return v
}

// readOldDirs reads the list of directories of DWARF 2 to 4. Directory 0 is the unit's, and is not
// in the list.
func (r *linesReader) readOldDirs(c *dwarfdata.Reader) {
	t := r.table
	t.dirs = []lineFile{{}}
	for {
		at := uint64(c.Off - r.names)
		if len(c.CString(len(c.Data))) == 0 {
			return
		}
		if r.held.take(fileSize) != nil {
			c.Bad = true
			return
		}
		t.dirs = append(t.dirs, lineFile{name: at, in: dwarfdata.FormString})
	}
}

// readOldFiles reads the list of files of DWARF 2 to 4. Files are numbered from 1.
func (r *linesReader) readOldFiles(c *dwarfdata.Reader) {
	r.table.files = []lineFile{{}}
	r.inTable = true
	for {
		at := uint64(c.Off - r.names)
		if len(c.CString(len(c.Data))) == 0 {
			return
		}
		if r.readOldFile(c, at); c.Bad {
			return
		}
	}
}

// readOldFile reads what follows the name of a file, which is at an offset of the names, and adds
// the file.
func (r *linesReader) readOldFile(c *dwarfdata.Reader, at uint64) {
	dir := c.ULEB128()
	c.ULEB128() // time
	c.ULEB128() // length
	if r.held.take(fileSize) != nil {
		c.Bad = true
	}
	r.table.files = append(r.table.files, lineFile{at, dwarfdata.FormString, uint32(min(dir, noDir))})
}

// defineFile reads a file that the line number program defines.
func (r *linesReader) defineFile(c *dwarfdata.Reader) {
	t := r.table
	at := uint64(len(t.names))
	name := c.CString(len(c.Data))
	if r.held.take(len(name)+1) != nil {
		c.Bad = true
		return
	}
	t.names = append(append(t.names, name...), 0)
	r.readOldFile(c, at)
}
