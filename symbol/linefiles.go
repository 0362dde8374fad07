package symbol

import (
	"fmt"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/internal/dwarfdata"
)

// readHeader reads the header of a line table of the unit named name, with its lists of files (DWARF 5, section
// 6.2.4). It returns the line number program.
func (r *linesReader) readHeader(table []byte, name string) (program dwarfdata.Reader, err error) {
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
	r.lineBase, r.lineRange = int(int8(c.Uint(1))), int(c.Uint(1))
	base := int(c.Uint(1))
	r.operands = c.Take(uint64(max(base-1, 0)))
	if !c.Bad && (r.lineRange == 0 || r.maxOps == 0 || base == 0) {
		return c, fmt.Errorf("line table at %#x: line range %d, %d operations in an instruction, first special opcode %d: none may be 0",
			r.off, r.lineRange, r.maxOps, base)
	}
	if r.old {
		r.readOldDirs(&c)
		r.readOldFiles(&c)
	} else {
		r.dirs = r.readNames(&c, nil)
		r.table.files = r.readNames(&c, r.dirs)
	}
	if c.Bad {
		r.table.files = nil
		return c, fmt.Errorf("line table at %#x: its lists of files are cut off, too long, or of unknown form", r.off)
	}
	for op := base; op < len(r.advance); op++ {
		r.advance[op], r.steps[op] = uint8((op-base)/r.lineRange), int16(r.lineBase+(op-base)%r.lineRange)
	}
	// GDB shows the unit's own source file by the unit's name.
	own := absolute(r.table.dir, name)
	for i, f := range r.table.files {
		if f != "" && f != name && absolute(r.table.dir, f) == own {
			r.table.files[i] = name
		}
	}
	return dwarfdata.New(table[begin:], r.d.order), nil
}

func absolute(dir, file string) string {
	if strings.HasPrefix(file, "/") {
		return file
	}
	return dir + "/" + file
}

// Line number header entry formats, DWARF 5 table 7.27.
const (
	lnctPath      = 1
	lnctDirectory = 2
)

// readNames reads a DWARF 5 list of directories or files. dirs are the directories
// that files refer to.
func (r *linesReader) readNames(c *dwarfdata.Reader, dirs []string) (names []string) {
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
	names = make([]string, 0, count)
	for ; count > 0 && !c.Bad; count-- {
		var name, dir string
		for _, f := range formats {
			s, v := r.readForm(c, form(f[1]))
			switch f[0] {
			case lnctPath:
				name = s
			case lnctDirectory:
				if v < uint64(len(dirs)) {
					dir = dirs[v]
				}
			}
		}
		names = append(names, r.join(c, dir, name))
	}
	return names
}

func (r *linesReader) readForm(c *dwarfdata.Reader, f form) (s string, v uint64) {
	switch f {
	case formString:
		s = c.String()
	case formStrp, formLineStrp:
		section := r.d.str
		if f == formLineStrp {
			section = r.d.lineStr
		}
		var err error
		if s, err = section.text(c.Uint(r.offsetSize)); err != nil || !r.mayRead(len(s)) {
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
func (r *linesReader) readOldDirs(c *dwarfdata.Reader) {
	r.dirs = []string{""}
	for dir := c.String(); dir != ""; dir = c.String() {
		r.dirs = append(r.dirs, dir)
	}
}

// readOldFiles reads the list of files of DWARF 2 to 4. Files are numbered from 1.
func (r *linesReader) readOldFiles(c *dwarfdata.Reader) {
	r.table.files = []string{""}
	for name := c.String(); name != "" && !c.Bad; name = c.String() {
		r.readOldFile(c, name)
	}
}

// readOldFile reads what follows the name of a file, and adds the file.
func (r *linesReader) readOldFile(c *dwarfdata.Reader, name string) {
	dir := ""
	if i := c.ULEB128(); i < uint64(len(r.dirs)) {
		dir = r.dirs[i]
	}
	c.ULEB128() // time
	c.ULEB128() // length
	if r.held.take(fileSize) != nil {
		c.Bad = true
	}
	r.table.files = append(r.table.files, r.join(c, dir, name))
}

// join puts a directory before a name. It leaves the spelling of both as it is.
func (r *linesReader) join(c *dwarfdata.Reader, dir, name string) string {
	if n := len(dir) + len(name); !r.mayRead(n) || r.held.take(n) != nil {
		c.Bad = true
	}
	if dir == "" || name == "" || path.IsAbs(name) || c.Bad {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// mayRead counts n bytes of names as work, and reports whether the file may cost as much.
func (r *linesReader) mayRead(n int) bool {
	return r.again || r.d.spend(&r.d.textLeft, uint64(n)) == nil
}
