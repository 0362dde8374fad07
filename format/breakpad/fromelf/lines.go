package fromelf

import (
	"bytes"
	"errors"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// row is a stretch of code that was made from one line.
type row struct {
	addr, size uint64
	file       uint32 // number in the unit's table of files
	line       uint32
}

// fileTable are the files of a line table.
type fileTable struct {
	ids  []uint32 // numbers in Dump.files, plus 1; 0 for a file that nobody has asked for
	path []byte   // the name that is put together
}

// readLines reads the line table of the unit into r.table and r.rows.
func (r *reader) readLines() {
	l := &r.lineTable
	r.files.ids, r.rows, l.Dirs, l.Files = r.files.ids[:0], r.rows[:0], l.Dirs[:0], l.Files[:0]
	v := r.u.lines
	if v.Class != dwarfdata.ClassOffset && v.Class != dwarfdata.ClassConstant {
		return
	}
	s := r.lines
	if v.N >= s.line.size {
		r.warn(fmt.Errorf("line table at offset %#x: it lies beyond the section (%#x bytes)", v.N, s.line.size))
		return
	}
	size, err := dwarfdata.LineTableSize(s.line.part(v.N, v.N+12, nil), s.order, s.line.size-v.N)
	if err == nil && r.d.linesLeft.Add(-int64(size)) < 0 {
		err = errors.New("the line tables of all units together are too large")
	}
	if err == nil {
		if r.lineBytes = s.line.part(v.N, v.N+size, r.program); s.line.file != nil {
			r.program = r.lineBytes
		}
		err = l.Read(r.lineBytes, s.order, int(r.u.AddrSize))
	}
	if err == nil {
		r.run()
		err = l.Err
	}
	if err != nil {
		r.warn(fmt.Errorf("line table at offset %#x: %w", v.N, err))
	}
	if len(r.rows) >= r.d.maxRows {
		r.warn(fmt.Errorf("line table at offset %#x: lines beyond %d are left out: the file is too small for so many", v.N, len(r.rows)))
	}
	r.files.ids = append(r.files.ids, make([]uint32, len(l.Files))...)
}

// run makes the rows of the line table.
func (r *reader) run() {
	l := &r.lineTable
	var pending row // its code ends at the next row
	have := false
	omitted := uint64(0) // where code ends that the linker has dropped, as its address 0 says
	for e := l.Next(); e != dwarfdata.LinesEnd; e = l.Next() {
		now := &l.Row
		if size := now.Addr - pending.addr; have && size != 0 {
			if pending.addr+size < pending.addr {
				size = -pending.addr
			}
			switch {
			case pending.addr == 0 || pending.addr == omitted:
				omitted = pending.addr + size
			default:
				omitted = 0
				if pending.file < noFile && len(r.rows) < r.d.maxRows {
					pending.size = size
					r.rows = append(r.rows, pending)
				}
			}
		}
		if have = e == dwarfdata.LineMade; have {
			pending = row{addr: now.Addr, file: noFile, line: uint32(now.Line)}
			if now.File < uint64(len(l.Files)) {
				pending.file = uint32(now.File)
			}
		}
	}
}

// noFile is the number of no file.
const noFile = 1<<32 - 1

// lineText returns the name of a file or a directory of the line table.
func (r *reader) lineText(f *dwarfdata.LineFile) []byte {
	switch f.Form {
	case dwarfdata.FormString:
		return textAt(r.lineBytes, f.Name)
	case dwarfdata.FormStrp:
		return textAt(r.lines.str, f.Name)
	case dwarfdata.FormLineStrp:
		return textAt(r.lines.lineStr, f.Name)
	}
	return nil
}

// fileID returns the number in Dump.files of a file of the unit's line table, plus 1; 0 if there is
// none.
func (r *reader) fileID(n uint64) uint32 {
	t, l := &r.files, &r.lineTable
	if n >= uint64(len(t.ids)) {
		return 0
	}
	if t.ids[n] == 0 {
		f := &l.Files[n]
		name, path, dir := r.lineText(f), t.path[:0], r.u.dir
		if len(dir) == 0 && l.Version >= 5 && len(l.Dirs) > 0 {
			dir = r.lineText(&l.Dirs[0])
		}
		if f.Dir != 0 && f.Dir != dwarfdata.NoDir {
			dir = nil
			if int64(f.Dir) < int64(len(l.Dirs)) {
				if dir = r.lineText(&l.Dirs[f.Dir]); len(r.u.dir) > 0 && !bytes.HasPrefix(dir, slash) {
					path = appendPath(path, r.u.dir)
				}
			}
		}
		if bytes.HasPrefix(name, slash) {
			path = path[:0]
		} else if len(dir) > 0 || len(path) > 0 {
			path = appendPath(path, dir)
		}
		path = append(path, name...)
		t.path = path
		t.ids[n] = r.d.files.number(path) + 1
	}
	return t.ids[n]
}

var slash = []byte("/")

// appendPath appends a folder's name, and a slash.
func appendPath(path, dir []byte) []byte {
	path = append(path, dir...)
	if len(path) > 0 && path[len(path)-1] != '/' {
		path = append(path, '/')
	}
	return path
}
