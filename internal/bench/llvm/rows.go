//go:build linux

package llvm

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// Rows are all rows of a file's line tables, as Go's debug/dwarf reads them, by address.
type Rows struct {
	rows  []row
	files []string
}

type row struct {
	addr uint64
	file int32 // index of Rows.files
	line int32 // 0 where a sequence ends
}

// ReadRows reads the line tables of a file.
func ReadRows(path string) (*Rows, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := new(Rows)
	names := map[string]int32{}
	for units := d.Reader(); ; units.SkipChildren() {
		unit, err := units.Next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if unit == nil {
			break
		}
		if err := r.readUnit(d, unit, names); err != nil {
			return nil, fmt.Errorf("%s: unit at %#x: %w", path, unit.Offset, err)
		}
	}
	slices.SortStableFunc(r.rows, func(a, b row) int { return cmp.Compare(a.addr, b.addr) })
	return r, nil
}

func (r *Rows) readUnit(d *dwarf.Data, unit *dwarf.Entry, names map[string]int32) error {
	folder, _ := unit.Val(dwarf.AttrCompDir).(string)
	lines, err := d.LineReader(unit)
	if lines == nil || err != nil {
		return err
	}
	dropped := false // the sequence is of code that the linker has left out
	begins := true
	for {
		var e dwarf.LineEntry
		if err := lines.Next(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if begins {
			dropped = e.Address == 0
		}
		if begins = e.EndSequence; dropped {
			continue
		}
		one := row{addr: e.Address}
		if !e.EndSequence && e.File != nil {
			name := filepath.Clean(e.File.Name)
			if !filepath.IsAbs(name) {
				name = filepath.Join(folder, name)
			}
			i, known := names[name]
			if !known {
				i = int32(len(r.files))
				r.files, names[name] = append(r.files, name), i
			}
			one.file, one.line = i, int32(e.Line)
		}
		r.rows = append(r.rows, one)
	}
}

// Has reports whether a place is one of the places that the line table has for an address. Several
// rows may begin at one address, and llvm-symbolizer takes the last of them; GDB prefers one that
// begins a statement, and takes no notice of a row that repeats the place of the row before.
func (r *Rows) Has(addr uint64, f Frame) bool {
	i, _ := slices.BinarySearchFunc(r.rows, addr+1, func(r row, addr uint64) int { return cmp.Compare(r.addr, addr) })
	if i == 0 || f.Line == 0 {
		return false
	}
	k := i - 1
	for place := r.rows[k]; k > 0 && r.rows[k-1].file == place.file && r.rows[k-1].line == place.line; {
		k--
	}
	for first := r.rows[k].addr; k >= 0 && r.rows[k].addr == first; k-- {
		if int(r.rows[k].line) == f.Line && r.files[r.rows[k].file] == f.File {
			return true
		}
	}
	return false
}
