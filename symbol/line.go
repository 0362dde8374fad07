package symbol

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// lineTable maps addresses to lines of the source.
type lineTable struct {
	lineFiles       // by the file numbers of entries and rows; relative names count from their unitDir
	rows      []row // ascending by addr

	prologueEnds []uint64 // addresses that the compiler marks as the ends of prologues; ascending
	doubled      []uint64 // addresses where a file has several lines; ascending
}

// row applies to the addresses from addr up to the next row's.
type row struct {
	addr uint64
	file int32
	line int32 // 0 at the end of a sequence: no line
}

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
	return place{t.fileName(int(t.rows[i].file)), t.rows[i].line, t.unitDir}, true
}

// double notes that one more row is at an address. As in GDB, rows of another file drop those
// before.
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
	return t.unitDir
}

func (t *lineTable) fileName(i int) string {
	if t == nil {
		return ""
	}
	return t.name(i)
}

// unitFile returns the file that a unit is named by.
func (d *debugInfo) unitFile(u *unit) string {
	if u.split != nil {
		return u.split.info.text(u.split.unit, u.split.unit.head.name)
	}
	return d.text(u, u.head.name)
}

// lineSlot holds the line table at an offset of .debug_line. Units may share it.
type lineSlot struct {
	table atomic.Pointer[lineTable] // nil if it is not read yet, or was dropped
	held  *holding
	again bool // it was read before
}

// linesOf returns the line table of a unit, nil if it has none. The unit is open.
func (d *debugInfo) linesOf(u *unit) *lineTable {
	if d.skeleton != nil { // its calls refer to the numbers of the skeleton's files
		return d.outer.linesOf(d.skeletonUnit)
	}
	at := u.head.lines
	if at.Class != dwarfdata.ClassOffset && at.Class != dwarfdata.ClassConstant || d.line == nil {
		return nil
	}
	slot := u.lines.Load()
	if slot != nil {
		if t := slot.table.Load(); t != nil {
			slot.held.touch()
			return t
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if slot == nil {
		if slot = d.lines[at.N]; slot == nil {
			slot = &lineSlot{held: &holding{room: d.room}}
			slot.held.drop = func() { slot.table.Store(nil) }
			d.holdings().add(slot.held)
			d.lines[at.N] = slot
		}
		u.lines.Store(slot)
	}
	t := slot.table.Load()
	if t != nil {
		return t
	}
	t = &lineTable{lineFiles: lineFiles{d: d, held: slot.held, unitDir: d.text(u, u.head.dir), unit: d.unitFile(u)}}
	slot.held.busy.Store(true)
	defer slot.held.busy.Store(false)
	err := slot.held.take(len(t.unitDir) + len(t.unit))
	if err == nil {
		err = d.readLines(u, slot, t, at.N)
	}
	if err != nil {
		d.warn(fmt.Errorf("read lines of unit %q at offset %#x of .debug_info: %w", d.text(u, u.head.name), u.Start, err))
	}
	slot.table.Store(t) // if it cannot be read, no other unit tries
	slot.held.touch()
	slot.again = true
	return t
}

// readLines reads the line table at an offset. What it has read before an error is used. The caller
// holds d.mu.
func (d *debugInfo) readLines(u *unit, slot *lineSlot, t *lineTable, off uint64) error {
	program, err := d.lineProgram(off)
	if err != nil {
		return err
	}
	if slot.again && !d.room.work(int64(len(program))) {
		return fmt.Errorf("once more: %w", errTooMuch)
	}
	r := linesReader{d: d, held: slot.held, table: t, off: off, again: slot.again}
	return r.read(program, int(u.AddrSize))
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
	size, err := dwarfdata.LineTableSize(head, d.order, left)
	if err != nil {
		return nil, fmt.Errorf("line table at %#x: %w", off, err)
	}
	return d.line.bytes(off, off+size)
}
