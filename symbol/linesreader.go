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

	program dwarfdata.Lines

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

// read reads a line table of a unit with addresses of addrSize bytes. What it reads before an error
// counts.
func (r *linesReader) read(table []byte, addrSize int) error {
	r.program.More = func(files int) bool { return r.held.take(fileSize*files) == nil }
	if err := r.program.Read(table, r.d.order, addrSize); err != nil {
		return fmt.Errorf("line table at %#x: %w", r.off, err)
	}
	if !r.keepFiles(table) {
		r.table.dirs, r.table.files = nil, nil
		return fmt.Errorf("line table at %#x: names of its files: %w", r.off, errTooMuch)
	}
	room := lineRooms.Get().(*lineRoom)
	t := r.table
	r.rows, t.prologueEnds, t.doubled = room.rows[:0], room.prologueEnds[:0], room.doubled[:0]
	r.restart()
	err := r.run()
	r.addFiles(table)
	*room = lineRoom{r.rows, t.prologueEnds, t.doubled}
	r.finish()
	if cap(room.rows) <= maxLineRoom {
		lineRooms.Put(room)
	}
	return err
}

// run runs the line number program.
func (r *linesReader) run() error {
	for {
		switch r.program.Next() {
		case dwarfdata.LineMade:
			if err := r.row(&r.program.Row); err != nil {
				return err
			}
		case dwarfdata.SequenceEnd:
			r.endSequence(r.program.Row.Addr)
		default:
			if err := r.program.Err; err != nil {
				return fmt.Errorf("line table at %#x: %w", r.off, err)
			}
			return r.count()
		}
	}
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
func (r *linesReader) row(s *dwarfdata.LineRow) error {
	const often = 1 << 12
	if r.fresh++; r.fresh == often {
		if err := r.count(); err != nil {
			return err
		}
	}
	if s.Statement {
		r.stmtAt = s.Addr
	} else if r.stmtAt != s.Addr {
		r.stmtAt = nowhere
	}
	if s.PrologueEnd {
		r.table.prologueEnds = append(r.table.prologueEnds, s.Addr)
	}
	r.discriminated = s.Discriminator || r.discriminated && s.Line == r.seen
	r.seen = s.Line
	if s.Line <= 0 || s.Line > 1<<31-1 || s.File >= uint64(len(r.program.Files)) || s.File == 0 && r.program.Version < 5 {
		return nil
	}
	next := row{s.Addr, int32(s.File), int32(s.Line)}
	if r.discriminated && next.file == r.last.file && next.line == r.last.line {
		return nil
	}
	n := len(r.rows)
	same := n > r.begin && r.rows[n-1].addr == s.Addr
	switch {
	case r.stmtAt == s.Addr && !s.Statement && next.file != r.last.file:
		return nil // it does not count at all
	case same && r.stmt && !s.Statement:
		r.table.double(s.Addr, next.file == r.rows[n-1].file)
	case same:
		r.table.double(s.Addr, next.file == r.rows[n-1].file)
		r.rows[n-1], r.stmt = next, s.Statement
	default:
		r.mixed = r.mixed || n > r.begin && r.rows[n-1].addr > s.Addr
		r.rows, r.stmt = append(r.rows, next), s.Statement
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
