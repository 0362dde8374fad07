package symbol

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// linesReader reads a line table: its header, and the rows that its line number program makes
// (DWARF 5, section 6.2). It keeps the rows that GDB keeps.
type linesReader struct {
	d     *debugInfo
	held  *holding // has the memory of the table
	table *lineTable
	off   uint64 // of the table in .debug_line
	again bool   // it was read before: other bounds hold for the work

	// Of the header:
	old                  bool // before DWARF 5
	offsetSize, addrSize int  // bytes
	minLength, maxOps    uint64
	statements           bool       // rows begin statements at first
	operands             []byte     // how many the standard opcodes have, from opcode 1 on
	names                int        // offset in the table of the lists of files
	inTable              bool       // names are in these lists
	advance              [256]uint8 // operations that a special opcode advances by
	steps                [256]int16 // lines that it advances by

	rows      []row      // of the sequences that were read, one after the other, then of the one that is being read
	sequences []sequence // that were read
	begin     int        // index in rows of the first row of the sequence that is being read
	mixed     bool       // addresses go back within a sequence
	fresh     int        // rows that the program made since the last count
	taken     int        // bytes

	// Of the sequence that is being read:
	stmt          bool   // the last row that is kept begins a statement
	last          row    // the last row that counted
	seen          int64  // the last row's line, whether it counted or not
	discriminated bool   // a discriminator came with this line
	stmtAt        uint64 // the last row's address if a row there begins a statement, whether it counted or not
}

// sequence is a run of rows at ascending addresses.
type sequence struct {
	begin, end int // indexes of rows
}

// lineState is the state of the machine that a line number program is for (section 6.2.2), as far
// as it matters.
type lineState struct {
	addr                             uint64
	op                               uint64
	file                             uint64
	line                             int64
	stmt, prologueEnd, discriminator bool
}

// rowSize is the memory that a row takes up while its table is made, in bytes.
const rowSize = 40

// lineRoom is room that is used again for the next table.
type lineRoom struct {
	rows                  []row
	prologueEnds, doubled []uint64
}

var lineRooms = sync.Pool{New: func() any { return new(lineRoom) }}

// maxLineRoom bounds the rows of that room. Usual tables have a hundred thousand and fewer.
const maxLineRoom = 1 << 18

// read reads a line table. What it reads before an error counts.
func (r *linesReader) read(table []byte) error {
	program, err := r.readHeader(table)
	if err != nil {
		return err
	}
	room := lineRooms.Get().(*lineRoom)
	t := r.table
	r.rows, t.prologueEnds, t.doubled = room.rows[:0], room.prologueEnds[:0], room.doubled[:0]
	r.restart()
	err = r.run(program)
	*room = lineRoom{r.rows, t.prologueEnds, t.doubled}
	r.finish()
	if cap(room.rows) <= maxLineRoom {
		lineRooms.Put(room)
	}
	return err
}

func (r *linesReader) first() lineState { return lineState{file: 1, line: 1, stmt: r.statements} }

// run runs the line number program.
func (r *linesReader) run(c dwarfdata.Reader) error {
	s := r.first()
	base := uint8(len(r.operands) + 1)
	for c.Off < len(c.Data) {
		op := c.Data[c.Off]
		c.Off++
		if op >= base {
			r.advanceBy(&s, uint64(r.advance[op]))
			s.line += int64(r.steps[op])
			if err := r.row(&s); err != nil {
				return err
			}
			continue
		}
		switch op {
		case 0:
			n := c.ULEB128()
			operand := dwarfdata.Reader{Data: c.Take(n), Big: c.Big}
			if c.Bad {
				break
			}
			switch operand.Uint(1) {
			case dwarfdata.LNEEndSequence:
				r.endSequence(s.addr)
				s = r.first()
			case dwarfdata.LNESetAddress:
				switch r.addrSize {
				case 1, 2, 4, 8:
					s.addr, s.op = operand.Uint(r.addrSize), 0
				default:
					return fmt.Errorf("line table at %#x: addresses of %d bytes", r.off, r.addrSize)
				}
			case dwarfdata.LNEDefineFile:
				r.defineFile(&operand)
			case dwarfdata.LNESetDiscriminator:
				s.discriminator = operand.ULEB128() != 0
			}
			c.Bad = c.Bad || operand.Bad
		case dwarfdata.LNSCopy:
			if err := r.row(&s); err != nil {
				return err
			}
		case dwarfdata.LNSAdvancePC:
			r.advanceBy(&s, c.ULEB128())
		case dwarfdata.LNSAdvanceLine:
			s.line += c.SLEB128()
		case dwarfdata.LNSSetFile:
			s.file = c.ULEB128()
		case dwarfdata.LNSNegateStmt:
			s.stmt = !s.stmt
		case dwarfdata.LNSSetBasicBlock, dwarfdata.LNSEpilogueBegin:
		case dwarfdata.LNSConstAddPC:
			r.advanceBy(&s, uint64(r.advance[255]))
		case dwarfdata.LNSFixedAdvancePC:
			s.addr, s.op = s.addr+c.Uint(2), 0
		case dwarfdata.LNSPrologueEnd:
			s.prologueEnd = true
		case dwarfdata.LNSSetColumn, dwarfdata.LNSSetISA:
			c.ULEB128()
		default:
			for range r.operands[op-1] {
				c.ULEB128()
			}
		}
		if c.Bad {
			return fmt.Errorf("line table at %#x: its program is cut off", r.off)
		}
	}
	return r.count()
}

// advanceBy goes on by n operations. An instruction of most processors is one operation.
func (r *linesReader) advanceBy(s *lineState, n uint64) {
	if r.maxOps == 1 {
		s.addr += r.minLength * n
		return
	}
	n += s.op
	s.addr += r.minLength * (n / r.maxOps)
	s.op = n % r.maxOps
}

// count counts the work and the memory of the rows that were made.
func (r *linesReader) count() error {
	n := r.fresh
	r.fresh = 0
	if !r.again {
		if err := r.d.spend(&r.d.rowsLeft, uint64(n)); err != nil {
			return err
		}
	}
	if err := r.held.take(n * rowSize); err != nil {
		return err
	}
	r.taken += n * rowSize
	return nil
}

// row makes a row of the state. It leaves out rows without a line, so that the row before goes on.
// It also leaves out rows that only repeat a line for a discriminator. The last row at an address
// counts, but a row that begins a statement takes precedence over one that does not.
func (r *linesReader) row(s *lineState) error {
	const often = 1 << 12
	if r.fresh++; r.fresh == often {
		if err := r.count(); err != nil {
			return err
		}
	}
	if s.stmt {
		r.stmtAt = s.addr
	} else if r.stmtAt != s.addr {
		r.stmtAt = nowhere
	}
	if s.prologueEnd {
		r.table.prologueEnds = append(r.table.prologueEnds, s.addr)
		s.prologueEnd = false
	}
	r.discriminated = s.discriminator || r.discriminated && s.line == r.seen
	s.discriminator = false
	r.seen = s.line
	if s.line <= 0 || s.line > 1<<31-1 || s.file >= uint64(len(r.table.files)) || s.file == 0 && r.old {
		return nil
	}
	next := row{s.addr, int32(s.file), int32(s.line)}
	if r.discriminated && next.file == r.last.file && next.line == r.last.line {
		return nil
	}
	n := len(r.rows)
	same := n > r.begin && r.rows[n-1].addr == s.addr
	switch {
	case r.stmtAt == s.addr && !s.stmt && next.file != r.last.file:
		return nil // it does not count at all
	case same && r.stmt && !s.stmt:
		r.table.double(s.addr, next.file == r.rows[n-1].file)
	case same:
		r.table.double(s.addr, next.file == r.rows[n-1].file)
		r.rows[n-1], r.stmt = next, s.stmt
	default:
		r.mixed = r.mixed || n > r.begin && r.rows[n-1].addr > s.addr
		r.rows, r.stmt = append(r.rows, next), s.stmt
	}
	r.last = next
	return nil
}

// endSequence ends the sequence at an address. It leaves out rows without code at the end, and
// sequences that are not of the module's code.
func (r *linesReader) endSequence(addr uint64) {
	r.fresh++
	n := len(r.rows)
	for n > r.begin && r.rows[n-1].addr == addr {
		n--
	}
	if n > r.begin && r.d.isCode(r.rows[r.begin].addr, max(addr, r.rows[r.begin].addr+1)) {
		r.mixed = r.mixed || r.rows[n-1].addr > addr
		r.rows = append(r.rows[:n], row{addr: addr})
		r.sequences = append(r.sequences, sequence{r.begin, n + 1})
	} else {
		r.rows = r.rows[:r.begin]
	}
	r.restart()
}

// restart begins a sequence.
func (r *linesReader) restart() {
	r.begin = len(r.rows)
	r.stmt, r.last, r.seen, r.discriminated, r.stmtAt = false, row{}, 0, false, nowhere
}

// finish gives the table its rows. At an address where one sequence ends and another begins, the
// row that begins one counts.
func (r *linesReader) finish() {
	t := r.table
	slices.SortStableFunc(r.sequences, func(a, b sequence) int { return cmp.Compare(r.rows[a.begin].addr, r.rows[b.begin].addr) })
	for i := 1; i < len(r.sequences) && !r.mixed; i++ {
		r.mixed = r.rows[r.sequences[i-1].end-1].addr > r.rows[r.sequences[i].begin].addr
	}
	all := make([]row, 0, r.begin)
	if r.mixed {
		all = append(all, r.rows[:r.begin]...)
		slices.SortStableFunc(all, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(min(a.line, 1), min(b.line, 1)))
		})
	} else {
		for _, s := range r.sequences {
			all = append(all, r.rows[s.begin:s.end]...)
		}
	}
	t.rows = all[:0]
	for i, x := range all {
		if i+1 == len(all) || all[i+1].addr != x.addr {
			t.rows = append(t.rows, x)
		}
	}
	t.prologueEnds, t.doubled = slices.Clone(t.prologueEnds), slices.Clone(t.doubled)
	slices.Sort(t.prologueEnds)
	slices.Sort(t.doubled)
	t.shown = make([]atomic.Pointer[string], len(t.files))
	const row, addr = 16, 8 // bytes
	r.held.give(r.taken - row*cap(t.rows) - addr*(cap(t.prologueEnds)+cap(t.doubled)))
}
