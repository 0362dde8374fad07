package fromelf

import (
	"bytes"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// row is a stretch of code that was made from one line.
type row struct {
	addr, size uint64
	file       uint32 // number in the unit's table of files
	line       uint32
}

// fileTable are the directories and files of a line table.
type fileTable struct {
	dirs  [][]byte // as they are given
	files []file
	path  []byte // the name that is put together
}

type file struct {
	name []byte
	dir  uint64
	id   uint32 // number in Dump.files, plus 1; 0 if nobody has asked for it
}

// readLines reads the line table of the unit into r.files and r.rows.
func (r *reader) readLines() {
	r.files.dirs, r.files.files, r.rows = r.files.dirs[:0], r.files.files[:0], r.rows[:0]
	v := r.u.lines
	if v.Class != dwarfdata.ClassOffset && v.Class != dwarfdata.ClassConstant {
		return
	}
	s := r.lines
	if v.N >= s.line.size {
		r.warn(fmt.Errorf("line table at offset %#x: it lies beyond the section (%#x bytes)", v.N, s.line.size))
		return
	}
	c := dwarfdata.New(s.line.part(v.N, v.N+12, nil), s.order)
	n, offsetSize := c.UnitLength()
	if c.Bad || n > s.line.size-v.N-uint64(c.Off) || r.d.linesLeft.Add(-int64(n)) < 0 {
		r.warn(fmt.Errorf("line table at offset %#x: length %#x is larger than what is left", v.N, n))
		return
	}
	c.Data = s.line.part(v.N, v.N+uint64(c.Off)+n, r.program)
	if s.line.file != nil {
		r.program = c.Data
	}
	if !r.readProgram(&c, offsetSize) {
		r.warn(cut("line table", v.N))
	}
	if len(r.rows) >= r.d.maxRows {
		r.warn(fmt.Errorf("line table at offset %#x: lines beyond %d are left out: the file is too small for so many", v.N, len(r.rows)))
	}
}

// program is the header of a line number program.
type program struct {
	version, addrSize int
	minLength         uint64
	lineBase          int64
	lineRange         uint64
	opcodeBase        uint8
	lengths           []byte // of the standard opcodes' operands, from opcode 1 on
}

func (r *reader) readProgram(c *dwarfdata.Reader, offsetSize int) bool {
	p := program{version: int(c.U16()), addrSize: int(r.u.AddrSize)}
	if p.version < 2 || p.version > 5 {
		return false
	}
	if p.version >= 5 {
		p.addrSize = int(c.U8())
		c.U8() // size of segment selectors
	}
	headerLength := c.Uint(offsetSize)
	start := uint64(c.Off) + headerLength
	p.minLength = uint64(c.U8())
	if p.version >= 4 {
		c.U8() // operations of an instruction, for VLIW
	}
	c.U8() // default_is_stmt
	p.lineBase = int64(int8(c.U8()))
	p.lineRange = uint64(c.U8())
	p.opcodeBase = c.U8()
	if p.opcodeBase > 0 {
		p.lengths = c.Take(uint64(p.opcodeBase) - 1)
	}
	if c.Bad || p.lineRange == 0 || p.addrSize != 4 && p.addrSize != 8 || start > uint64(len(c.Data)) || headerLength > uint64(len(c.Data)) {
		return false
	}
	ok := true
	if p.version >= 5 {
		ok = r.readFiles(c, offsetSize)
	} else {
		r.readOldFiles(c)
	}
	if !ok || c.Bad {
		return false
	}
	c.Off = int(start)
	return r.run(c, &p)
}

// readOldFiles reads the lists of DWARF 2 to 4. Directory 0 is the unit's; files count from 1.
func (r *reader) readOldFiles(c *dwarfdata.Reader) {
	t := &r.files
	t.dirs = append(t.dirs, nil)
	for dir := c.CString(len(c.Data)); len(dir) > 0; dir = c.CString(len(c.Data)) {
		t.dirs = append(t.dirs, dir)
	}
	t.files = append(t.files, file{})
	for name := c.CString(len(c.Data)); len(name) > 0 && !c.Bad; name = c.CString(len(c.Data)) {
		dir := c.ULEB128()
		c.ULEB128() // time
		c.ULEB128() // length
		t.files = append(t.files, file{name: name, dir: dir})
	}
}

// readFiles reads the lists of DWARF 5.
func (r *reader) readFiles(c *dwarfdata.Reader, offsetSize int) bool {
	t := &r.files
	for _, dirs := range []bool{true, false} {
		formats := make([][2]uint64, c.U8())
		for i := range formats {
			formats[i] = [2]uint64{c.ULEB128(), c.ULEB128()}
		}
		count := c.ULEB128()
		if count > c.Left() || count > 0 && len(formats) == 0 { // an entry has at least one byte
			return false
		}
		for ; count > 0 && !c.Bad; count-- {
			var f file
			for _, x := range formats {
				text, n := r.lineForm(c, dwarfdata.Form(x[1]), offsetSize)
				switch x[0] {
				case dwarfdata.LNCTPath:
					f.name = text
				case dwarfdata.LNCTDirectory:
					f.dir = n
				}
			}
			if dirs {
				t.dirs = append(t.dirs, f.name)
			} else {
				t.files = append(t.files, f)
			}
		}
	}
	return !c.Bad
}

func (r *reader) lineForm(c *dwarfdata.Reader, form dwarfdata.Form, offsetSize int) (text []byte, n uint64) {
	switch form {
	case dwarfdata.FormString:
		text = c.CString(len(c.Data))
	case dwarfdata.FormStrp:
		text = textAt(r.lines.str, c.Uint(offsetSize))
	case dwarfdata.FormLineStrp:
		text = textAt(r.lines.lineStr, c.Uint(offsetSize))
	case dwarfdata.FormData1:
		n = uint64(c.U8())
	case dwarfdata.FormData2:
		n = uint64(c.U16())
	case dwarfdata.FormData4:
		n = uint64(c.U32())
	case dwarfdata.FormData8:
		n = c.U64()
	case dwarfdata.FormData16:
		c.Take(16)
	case dwarfdata.FormUdata:
		n = c.ULEB128()
	case dwarfdata.FormBlock:
		c.Take(c.ULEB128())
	default:
		c.Bad = true
	}
	return text, n
}

// state is the machine of line number programs, as far as lines need it.
type state struct {
	addr       uint64
	file, line uint64
}

// run runs a line number program (DWARF 5 section 6.2).
func (r *reader) run(c *dwarfdata.Reader, p *program) bool {
	fresh := state{file: 1, line: 1}
	m := fresh
	var pending state
	have := false
	omitted := uint64(0) // where code ends that the linker has dropped, as its address 0 says
	emit := func() {
		size := m.addr - pending.addr
		if !have || size == 0 {
			return
		}
		if pending.addr+size < pending.addr {
			size = -pending.addr
		}
		if pending.addr == 0 || pending.addr == omitted {
			omitted = pending.addr + size
			return
		}
		omitted = 0
		if pending.file < uint64(len(r.files.files)) && len(r.rows) < r.d.maxRows {
			r.rows = append(r.rows, row{pending.addr, size, uint32(pending.file), uint32(pending.line)})
		}
	}
	constAdd := uint64(255-p.opcodeBase) / p.lineRange * p.minLength
	for c.More() {
		op := c.U8()
		if op >= p.opcodeBase {
			n := uint64(op - p.opcodeBase)
			m.addr += n / p.lineRange * p.minLength
			m.line += uint64(int64(n%p.lineRange) + p.lineBase)
			emit()
			pending, have = m, true
			continue
		}
		switch op {
		case dwarfdata.LNSCopy:
			emit()
			pending, have = m, true
		case dwarfdata.LNSAdvancePC:
			m.addr += c.ULEB128() * p.minLength
		case dwarfdata.LNSAdvanceLine:
			m.line += uint64(c.SLEB128())
		case dwarfdata.LNSSetFile:
			m.file = c.ULEB128()
		case dwarfdata.LNSSetColumn, dwarfdata.LNSSetISA:
			c.ULEB128()
		case dwarfdata.LNSNegateStmt, dwarfdata.LNSSetBasicBlock, dwarfdata.LNSPrologueEnd, dwarfdata.LNSEpilogueBegin:
		case dwarfdata.LNSConstAddPC:
			m.addr += constAdd
		case dwarfdata.LNSFixedAdvancePC:
			m.addr += uint64(c.U16())
		case dwarfdata.LNSExtended:
			n := c.ULEB128()
			if n == 0 || n > c.Left() {
				return false
			}
			end := c.Off + int(n)
			switch c.U8() {
			case dwarfdata.LNEEndSequence:
				emit()
				m, have = fresh, false
			case dwarfdata.LNESetAddress:
				if n-1 == 4 || n-1 == 8 {
					m.addr = c.Uint(int(n - 1))
				}
			case dwarfdata.LNEDefineFile:
				name := c.CString(end - c.Off)
				r.files.files = append(r.files.files, file{name: name, dir: c.ULEB128()})
			}
			c.Off = end
		default:
			for range p.lengths[op-1] {
				c.ULEB128()
			}
		}
	}
	return !c.Bad
}

// fileID returns the number in Dump.files of a file of the unit's line table, plus 1; 0 if there is none.
func (r *reader) fileID(n uint64) uint32 {
	t := &r.files
	if n >= uint64(len(t.files)) {
		return 0
	}
	f := &t.files[n]
	if f.id == 0 {
		path := t.path[:0]
		dir := r.u.dir
		if len(dir) == 0 && r.u.Version >= 5 && len(t.dirs) > 0 {
			dir = t.dirs[0]
		}
		if f.dir != 0 {
			dir = nil
			if f.dir < uint64(len(t.dirs)) {
				if dir = t.dirs[f.dir]; len(r.u.dir) > 0 && !bytes.HasPrefix(dir, slash) {
					path = appendPath(path, r.u.dir)
				}
			}
		}
		if bytes.HasPrefix(f.name, slash) {
			path = path[:0]
		} else if len(dir) > 0 || len(path) > 0 {
			path = appendPath(path, dir)
		}
		path = append(path, f.name...)
		t.path = path
		f.id = r.d.files.number(path) + 1
	}
	return f.id
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
