package symbol

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/dwarfdata"
)

// lineTable maps addresses to lines of the source.
type lineTable struct {
	files []string // by the file numbers of entries and rows
	dir   string   // the unit's DW_AT_comp_dir, from which relative names of files count
	rows  []row    // ascending by addr

	prologueEnds []uint64 // addresses that the compiler marks as the ends of prologues; ascending
	doubled      []uint64 // addresses where a file has several lines; ascending
}

// row applies to the addresses from addr up to the next row's.
type row struct {
	addr uint64
	file int32
	line int32 // 0 at the end of a sequence: no line
}

// rowSize is the memory that a row takes up while its table is made, in bytes.
const rowSize = 40

// fileSize is the memory that a file takes up here and in debug/dwarf, without the text of its name,
// in bytes.
const fileSize = 128

// find returns the line of a link-time address.
func (t *lineTable) find(addr uint64) (p place, ok bool) {
	if t == nil {
		return place{}, false
	}
	i, found := slices.BinarySearchFunc(t.rows, addr, func(r row, a uint64) int { return cmp.Compare(r.addr, a) })
	if !found {
		i--
	}
	if i < 0 || t.rows[i].line == 0 {
		return place{}, false
	}
	return place{t.fileName(int(t.rows[i].file)), t.rows[i].line, t.dir}, true
}

// double notes that one more row is at an address. As in GDB, rows of another file drop those before.
func (t *lineTable) double(addr uint64, sameFile bool) {
	n := len(t.doubled)
	known := n > 0 && t.doubled[n-1] == addr
	switch {
	case sameFile && !known:
		t.doubled = append(t.doubled, addr)
	case !sameFile && known:
		t.doubled = t.doubled[:n-1]
	}
}

func (t *lineTable) folder() string {
	if t == nil {
		return ""
	}
	return t.dir
}

func (t *lineTable) fileName(i int) string {
	if t == nil || i < 0 || i >= len(t.files) {
		return ""
	}
	return t.files[i]
}

// unitFile returns the file that a unit is named by.
func (d *debugInfo) unitFile(u *unit) string {
	if u.split != nil {
		return u.split.info.text(u.split.unit, u.split.unit.head.name)
	}
	return d.text(u, u.head.name)
}

// readLines reads the line table of a unit. The caller holds d.mu.
func (d *debugInfo) readLines(u *unit) error {
	at := u.head.lines
	if at.class != classOffset && at.class != classConstant || d.line == nil {
		return nil
	}
	if t, ok := d.lines[at.n]; ok {
		u.lines = t
		return nil
	}
	d.lines[at.n] = nil // if it cannot be read, no other unit tries
	program, err := d.lineProgram(at.n)
	if err != nil {
		return err
	}
	dir := d.text(u, u.head.dir)
	files, header, err := d.readFiles(program, at.n, dir, d.unitFile(u))
	if err != nil {
		return err
	}
	t := &lineTable{files: files, dir: dir}
	d.lines[at.n], u.lines = t, t
	return guard(func() error {
		r, err := d.lineReader(u, d.withoutNames(program, header, len(files)), dir)
		if err != nil || r == nil {
			return err
		}
		return d.readRows(t, r)
	})
}

// lineProgram returns the line table at an offset of .debug_line: its header and
// its program.
func (d *debugInfo) lineProgram(off uint64) ([]byte, error) {
	const longest = 12
	if off > d.line.len() {
		return nil, fmt.Errorf("offset %#x lies beyond .debug_line (%#x bytes)", off, d.line.len())
	}
	left := d.line.len() - off
	head, err := d.line.bytes(off, off+min(left, longest))
	if err != nil {
		return nil, err
	}
	c := dwarfdata.New(head, d.order)
	n, _ := c.UnitLength()
	size := uint64(c.Off)
	if c.Bad || n > left-size {
		return nil, fmt.Errorf("line table at %#x: length %#x, %#x are left", off, n, left)
	}
	return d.line.bytes(off, off+size+n)
}

// lineHeader says where things lie in a line table: offsets from its beginning.
type lineHeader struct {
	old        bool   // before DWARF 5
	offsetSize int    // of its two lengths, in bytes
	length     int    // the length of the header, which counts from behind itself
	names      int    // the lists of files and, of DWARF 5, of directories
	program    uint64 // where the header ends
}

// withoutNames returns a copy of a line table for debug/dwarf, with a list of as many files that have no names.
// debug/dwarf would refuse the whole table for one file whose directory is in no list, and would copy the names and
// the sections that have them.
func (d *debugInfo) withoutNames(table []byte, h *lineHeader, files int) []byte {
	list := make([]byte, 3, 16) // no forms of directories, no directories, no forms of files
	if h.old {
		list = append(bytes.Repeat([]byte{'?', 0, 0, 0, 0}, files-1), 0) // name, directory, time, length; numbered from 1
	} else {
		list = binary.AppendUvarint(list, uint64(files))
	}
	t := slices.Concat(table[:h.names], list, table[h.program:])
	begins := h.offsetSize // what the length of the table counts from
	header := h.names + len(list) - h.length - h.offsetSize
	if h.offsetSize == 8 {
		begins += 4
		d.order.PutUint64(t[4:], uint64(len(t)-begins))
		d.order.PutUint64(t[h.length:], uint64(header))
	} else {
		d.order.PutUint32(t, uint32(len(t)-begins))
		d.order.PutUint32(t[h.length:], uint32(header))
	}
	return t
}

// lineReader makes debug/dwarf read one line table. debug/dwarf needs a unit for the table, so
// lineReader makes up one with the version and address size of u, and without entries.
func (d *debugInfo) lineReader(u *unit, table []byte, dir string) (*dwarf.LineReader, error) {
	info := make([]byte, 6, 16)
	d.order.PutUint16(info[4:], uint16(u.version))
	if u.version >= 5 {
		info = append(info, utCompile, u.addrSize, 0, 0, 0, 0)
	} else {
		info = append(info, 0, 0, 0, 0, u.addrSize)
	}
	entry := dwarf.Entry{Offset: dwarf.Offset(len(info)), Field: []dwarf.Field{
		{Attr: dwarf.AttrStmtList, Val: int64(0)},
		{Attr: dwarf.AttrCompDir, Val: dir},
	}}
	info = append(info, 0)
	d.order.PutUint32(info, uint32(len(info)-4))
	data, err := dwarf.New([]byte{0}, nil, nil, info, table, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	return data.LineReader(&entry)
}

// readRows runs a unit's line number program, and keeps the rows that GDB keeps.
// It leaves out rows without a line, so that the row before goes on. It also leaves
// out rows that only repeat a line for a discriminator, and rows without code at the end
// of a sequence. The last row at an address counts, but a row that begins a statement
// takes precedence over one that does not.
func (d *debugInfo) readRows(t *lineTable, r *dwarf.LineReader) error {
	numbers := make(map[*dwarf.LineFile]int32)
	for i, f := range r.Files() {
		if f != nil {
			numbers[f] = int32(i)
		}
	}
	var sequence []row
	var stmt bool          // the last row of sequence begins a statement
	var last row           // the last row that counted
	var seen int           // the last row's line, whether it counted or not
	var discriminated bool // a discriminator came with this line
	stmtAt := nowhere      // the last row's address if a row there begins a statement, whether it counted or not
	var e dwarf.LineEntry
	for {
		err := r.Next(&e)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := cmp.Or(d.spend(&d.rowsLeft, 1), d.take(rowSize)); err != nil {
			return err
		}
		if e.EndSequence {
			for n := len(sequence); n > 0 && sequence[n-1].addr == e.Address; n-- {
				sequence = sequence[:n-1]
			}
			if len(sequence) > 0 && d.isCode(sequence[0].addr, max(e.Address, sequence[0].addr+1)) {
				t.rows = append(append(t.rows, sequence...), row{addr: e.Address})
			}
			sequence, last, seen, discriminated, stmtAt = sequence[:0], row{}, 0, false, nowhere
			continue
		}
		if e.IsStmt {
			stmtAt = e.Address
		} else if stmtAt != e.Address {
			stmtAt = nowhere
		}
		if e.PrologueEnd {
			t.prologueEnds = append(t.prologueEnds, e.Address)
		}
		discriminated = e.Discriminator != 0 || discriminated && e.Line == seen
		seen = e.Line
		if e.Line <= 0 || e.Line > 1<<31-1 || e.File == nil {
			continue
		}
		number, ok := numbers[e.File]
		if !ok { // DW_LNE_define_file
			number = int32(len(t.files))
			numbers[e.File] = number
			t.files = append(t.files, e.File.Name)
		}
		next := row{e.Address, number, int32(e.Line)}
		if discriminated && next.file == last.file && next.line == last.line {
			continue
		}
		n := len(sequence)
		same := n > 0 && sequence[n-1].addr == e.Address
		switch {
		case stmtAt == e.Address && !e.IsStmt && next.file != last.file:
			continue // it does not count at all
		case same && stmt && !e.IsStmt:
			t.double(e.Address, next.file == sequence[n-1].file)
		case same:
			t.double(e.Address, next.file == sequence[n-1].file)
			sequence[n-1], stmt = next, e.IsStmt
		default:
			sequence, stmt = append(sequence, next), e.IsStmt
		}
		last = next
	}
	// At an address where one sequence ends and another begins, the row that begins one counts.
	slices.SortStableFunc(t.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(min(a.line, 1), min(b.line, 1)))
	})
	slices.Sort(t.prologueEnds)
	slices.Sort(t.doubled)
	keep := t.rows[:0]
	for i, r := range t.rows {
		if i+1 == len(t.rows) || t.rows[i+1].addr != r.addr {
			keep = append(keep, r)
		}
	}
	t.rows = slices.Clip(keep)
	return nil
}

// Line number header entry formats, DWARF 5 table 7.27.
const (
	lnctPath      = 1
	lnctDirectory = 2
)

// readFiles reads the header of a line table, which lies at off in .debug_line, and the names of its files, DWARF 5
// section 6.2.4. debug/dwarf makes names absolute, and so hides the compiler's spelling. It also believes the
// counts in the header.
func (d *debugInfo) readFiles(table []byte, off uint64, dir, name string) (files []string, h *lineHeader, err error) {
	c := dwarfdata.New(table, d.order)
	h = new(lineHeader)
	_, h.offsetSize = c.UnitLength()
	version := c.Uint(2)
	if version < 2 || version > 5 {
		return nil, nil, fmt.Errorf("line table at %#x: version %d, not 2 to 5", off, version)
	}
	h.old = version < 5
	if !h.old {
		c.Uint(2) // address size, segment selector size
	}
	h.length = c.Off
	size := c.Uint(h.offsetSize)
	if size > c.Left() {
		return nil, nil, fmt.Errorf("line table at %#x: header length %#x, %#x are left", off, size, c.Left())
	}
	h.program = uint64(c.Off) + size
	c.Uint(1) // minimum instruction length
	if version >= 4 {
		c.Uint(1) // maximum operations per instruction
	}
	c.Uint(1) // default_is_stmt
	c.Uint(2) // line base, line range
	if base := c.Uint(1); base > 0 {
		c.Take(base - 1) // operands of the standard opcodes
	}
	if h.old {
		dirs := d.readOldDirs(&c)
		h.names = c.Off
		files = d.readOldFiles(&c, dirs)
	} else {
		h.names = c.Off
		files = d.readNames(&c, h.offsetSize, d.readNames(&c, h.offsetSize, nil))
	}
	if c.Bad {
		return nil, nil, fmt.Errorf("line table at %#x: its lists of files are cut off, too long, or of unknown form", off)
	}
	// GDB shows the unit's own source file by the unit's name.
	own := absolute(dir, name)
	for i, f := range files {
		if f != "" && f != name && absolute(dir, f) == own {
			files[i] = name
		}
	}
	return files, h, nil
}

func absolute(dir, file string) string {
	if strings.HasPrefix(file, "/") {
		return file
	}
	return dir + "/" + file
}

// readNames reads a DWARF 5 list of directories or files. dirs are the directories
// that files refer to.
func (d *debugInfo) readNames(c *dwarfdata.Reader, offsetSize int, dirs []string) (names []string) {
	formats := make([][2]uint64, c.Uint(1))
	for i := range formats {
		formats[i] = [2]uint64{c.ULEB128(), c.ULEB128()}
	}
	count := c.ULEB128()
	if count > c.Left() || count > 0 && len(formats) == 0 { // an entry has at least one byte
		c.Bad = true
		return nil
	}
	if d.take(fileSize*int(count)) != nil {
		c.Bad = true
		return nil
	}
	names = make([]string, 0, count)
	for ; count > 0 && !c.Bad; count-- {
		var name, dir string
		for _, f := range formats {
			s, v := d.readForm(c, form(f[1]), offsetSize)
			switch f[0] {
			case lnctPath:
				name = s
			case lnctDirectory:
				if v < uint64(len(dirs)) {
					dir = dirs[v]
				}
			}
		}
		names = append(names, d.join(c, dir, name))
	}
	return names
}

func (d *debugInfo) readForm(c *dwarfdata.Reader, f form, offsetSize int) (s string, v uint64) {
	switch f {
	case formString:
		s = c.String()
	case formStrp, formLineStrp:
		section := d.str
		if f == formLineStrp {
			section = d.lineStr
		}
		var err error
		if s, err = section.text(c.Uint(offsetSize)); err != nil || d.spend(&d.textLeft, uint64(len(s))) != nil {
			c.Bad = true
		}
	case formData1:
		v = c.Uint(1)
	case formData2:
		v = c.Uint(2)
	case formData4:
		v = c.Uint(4)
	case formData8:
		v = c.Uint(8)
	case formData16:
		c.Take(16)
	case formUdata:
		v = c.ULEB128()
	case formBlock:
		c.Take(c.ULEB128())
	default:
		c.Bad = true
	}
	return s, v
}

// readOldDirs reads the list of directories of DWARF 2 to 4. Directory 0 is the unit's, and is not in the list.
func (d *debugInfo) readOldDirs(c *dwarfdata.Reader) []string {
	dirs := []string{""}
	for dir := c.String(); dir != ""; dir = c.String() {
		dirs = append(dirs, dir)
	}
	return dirs
}

// readOldFiles reads the list of files of DWARF 2 to 4. Files are numbered from 1.
func (d *debugInfo) readOldFiles(c *dwarfdata.Reader, dirs []string) []string {
	files := []string{""}
	for name := c.String(); name != "" && !c.Bad; name = c.String() {
		dir := ""
		if i := c.ULEB128(); i < uint64(len(dirs)) {
			dir = dirs[i]
		}
		c.ULEB128() // time
		c.ULEB128() // length
		if d.take(fileSize) != nil {
			c.Bad = true
		}
		files = append(files, d.join(c, dir, name))
	}
	return files
}

// join puts a directory before a name. It leaves the spelling of both as it is.
func (d *debugInfo) join(c *dwarfdata.Reader, dir, name string) string {
	if n := len(dir) + len(name); d.spend(&d.textLeft, uint64(n)) != nil || d.take(n) != nil {
		c.Bad = true
	}
	if dir == "" || name == "" || path.IsAbs(name) || c.Bad {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}
