package dwarf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Standard opcodes of line number programs (DWARF 5, section 6.2.5.2). lnsExtended begins an
// extended one.
const (
	lnsExtended       = 0
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsSetColumn      = 5
	lnsNegateStmt     = 6
	lnsSetBasicBlock  = 7
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9
	lnsPrologueEnd    = 10
	lnsEpilogueBegin  = 11
	lnsSetISA         = 12
)

// Extended opcodes of line number programs (section 6.2.5.3).
const (
	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lneSetDiscriminator = 4
)

// Lines is a line table: its lists of directories and files, and the rows that its line number
// program makes (DWARF 5, section 6.2). One Lines may read one table after the other, in the same
// memory.
type Lines struct {
	Version int // 2 to 5
	// Before DWARF 5, directory 0 is the unit's, file 0 is none, and neither has a name. The
	// program may add files.
	Dirs, Files []LineFile
	// NamesFrom and NamesTo are where the table has the names of form FormString, except for the
	// files that the program adds. Both are 0 if it has none.
	NamesFrom, NamesTo int

	// Row is the last row that Next made.
	Row LineRow
	// Err says why the program could not be read to its end.
	Err error

	// More reports whether there is memory for so many more directories or files; nil if there
	// always is.
	More func(n int) bool

	r                    Reader
	offsetSize, addrSize int // bytes
	minLength, maxOps    uint64
	statements           bool       // rows begin statements at first
	operands             []byte     // how many the standard opcodes have, from opcode 1 on
	base                 uint8      // the first special opcode
	advance              [256]uint8 // operations that a special opcode advances by
	steps                [256]int16 // lines that it advances by
	begun                bool       // Row is of the sequence that is being read
}

// LineRow is the state of the machine that a line number program is for (section 6.2.2), as far as
// stacks need it.
type LineRow struct {
	Addr, File    uint64
	Line          int64 // hostile programs make negative ones
	Statement     bool  // a statement begins here
	PrologueEnd   bool
	Discriminator bool // a discriminator came with the row

	op uint64 // within an instruction of several
}

// LineEvent says what [Lines.Next] has come to.
type LineEvent uint8

const (
	LinesEnd    LineEvent = iota // the program ends, or Lines.Err says why it cannot be read on
	LineMade                     // a row
	SequenceEnd                  // the end of a sequence, whose code ends at the row's address
)

// LineTableSize returns how many bytes the line table has that begins with head, which is at most
// 12 of them; left is what the section has from there on.
func LineTableSize(head []byte, order binary.ByteOrder, left uint64) (size uint64, err error) {
	r := New(head, order)
	n, _ := r.UnitLength()
	if size = uint64(r.Off); r.Bad || n > left-size {
		return 0, fmt.Errorf("length %#x, %#x are left", n, left)
	}
	return size + n, nil
}

// Read reads the header of a table of a unit with addresses of addrSize bytes. The table must not
// change as long as l is used.
func (l *Lines) Read(table []byte, order binary.ByteOrder, addrSize int) error {
	*l = Lines{Dirs: l.Dirs[:0], Files: l.Files[:0], More: l.More, addrSize: addrSize, r: New(table, order), advance: l.advance, steps: l.steps}
	r := &l.r
	_, l.offsetSize = r.UnitLength()
	l.Version = int(r.U16())
	if l.Version < 2 || l.Version > 5 {
		return fmt.Errorf("version %d, not 2 to 5", l.Version)
	}
	if l.Version >= 5 {
		l.addrSize = int(r.U8())
		r.U8() // segment selector size
	}
	size := r.Uint(l.offsetSize)
	if size > r.Left() {
		return fmt.Errorf("header length %#x, %#x are left", size, r.Left())
	}
	begin := r.Off + int(size)
	l.minLength, l.maxOps = uint64(r.U8()), 1
	if l.Version >= 4 {
		l.maxOps = uint64(r.U8())
	}
	l.statements = r.U8() != 0
	lineBase, lineRange := int(int8(r.U8())), int(r.U8())
	l.base = r.U8()
	l.operands = r.Take(uint64(max(int(l.base)-1, 0)))
	if !r.Bad && (lineRange == 0 || l.maxOps == 0 || l.base == 0) {
		return fmt.Errorf("line range %d, %d operations in an instruction, first special opcode %d: none may be 0", lineRange, l.maxOps, l.base)
	}
	l.readFiles()
	if r.Bad {
		l.Dirs, l.Files = l.Dirs[:0], l.Files[:0]
		return errors.New("its lists of files are cut off, too long, or of unknown form")
	}
	for op := int(l.base); op < len(l.advance); op++ {
		l.advance[op], l.steps[op] = uint8((op-int(l.base))/lineRange), int16(lineBase+(op-int(l.base))%lineRange)
	}
	r.Off = begin
	return nil
}

// Next runs the program up to the next row, which it puts into l.Row.
func (l *Lines) Next() LineEvent {
	if l.Err != nil {
		return LinesEnd
	}
	c, row := &l.r, &l.Row
	if row.PrologueEnd, row.Discriminator = false, false; !l.begun {
		*row, l.begun = LineRow{File: 1, Line: 1, Statement: l.statements}, true
	}
	for c.Off < len(c.Data) {
		op := c.Data[c.Off]
		c.Off++
		if op >= l.base {
			l.advanceBy(uint64(l.advance[op]))
			row.Line += int64(l.steps[op])
			return LineMade
		}
		switch op {
		case lnsExtended:
			if l.extended() {
				l.begun = false
				return SequenceEnd
			}
		case lnsCopy:
			return LineMade
		case lnsAdvancePC:
			l.advanceBy(c.ULEB128())
		case lnsAdvanceLine:
			row.Line += c.SLEB128()
		case lnsSetFile:
			row.File = c.ULEB128()
		case lnsNegateStmt:
			row.Statement = !row.Statement
		case lnsSetBasicBlock, lnsEpilogueBegin:
		case lnsConstAddPC:
			l.advanceBy(uint64(l.advance[255]))
		case lnsFixedAdvancePC:
			row.Addr, row.op = row.Addr+uint64(c.U16()), 0
		case lnsPrologueEnd:
			row.PrologueEnd = true
		case lnsSetColumn, lnsSetISA:
			c.ULEB128()
		default:
			for range l.operands[op-1] {
				c.ULEB128()
			}
		}
		if c.Bad && l.Err == nil {
			l.Err = errors.New("its program is cut off")
		}
		if l.Err != nil {
			break
		}
	}
	return LinesEnd
}

// extended runs an extended operation. It reports whether that ends the sequence.
func (l *Lines) extended() (end bool) {
	n := l.r.ULEB128()
	at := l.r.Off
	operand := Reader{Data: l.r.Take(n), Big: l.r.Big}
	if l.r.Bad {
		return false
	}
	switch operand.U8() {
	case lneEndSequence:
		end = true
	case lneSetAddress:
		switch l.addrSize {
		case 1, 2, 4, 8:
			l.Row.Addr, l.Row.op = operand.Uint(l.addrSize), 0
		default:
			l.Err = fmt.Errorf("addresses of %d bytes", l.addrSize)
		}
	case lneDefineFile:
		name := uint64(at + operand.Off)
		operand.CString(len(operand.Data))
		l.oldFile(&operand, name)
	case lneSetDiscriminator:
		l.Row.Discriminator = operand.ULEB128() != 0
	}
	l.r.Bad = operand.Bad
	return end && !operand.Bad
}

// advanceBy goes on by n operations. An instruction of most processors is one operation.
func (l *Lines) advanceBy(n uint64) {
	row := &l.Row
	if l.maxOps == 1 {
		row.Addr += l.minLength * n
		return
	}
	n += row.op
	row.Addr += l.minLength * (n / l.maxOps)
	row.op = n % l.maxOps
}
