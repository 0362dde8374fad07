package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// debugInfo is the DWARF of one module. Addresses are link-time ones.
type debugInfo struct {
	order  binary.ByteOrder
	code   []elf.ProgHeader // executable segments of the module
	units  []unit           // ascending by offset in .debug_info
	ranges spans            // units' code
	warn   func(error)

	line, lineStr, str   []byte
	rangeLists, rnglists []byte

	mu    sync.Mutex // debug/dwarf's Data fills in units when they are read
	data  *dwarf.Data
	lines map[int64]*lineTable // by offset in .debug_line

	// What may still be read, so that hostile references from everywhere to the
	// same large thing cost no more than an honest file of this size.
	rangesLeft, textLeft, rowsLeft int
}

var errTooMuch = errors.New("DWARF refers to the same data too often")

// sections are what debug/dwarf is given.
var sectionNames = []string{
	"abbrev", "info", "line", "ranges", "str", // dwarf.New's
	"addr", "line_str", "str_offsets", "rnglists", // added, DWARF 5
}

// openDWARF reads the DWARF of from, which describes the code of module.
func openDWARF(from, module *target.Image) (d *debugInfo, err error) {
	data := make(map[string][]byte)
	for _, name := range sectionNames {
		b, _, err := from.Section(".debug_"+name, ".zdebug_"+name) // older tools' compressed ones
		if err != nil && !errors.Is(err, target.ErrNoSection) {
			return nil, fmt.Errorf("read DWARF: %w", err)
		}
		if uint64(len(b)) > math.MaxUint32 {
			return nil, fmt.Errorf("read DWARF: section .debug_%s has %#x bytes, more than 32-bit offsets reach", name, len(b))
		}
		data[name] = b
	}
	d = &debugInfo{
		order: from.Order,
		line:  data["line"], lineStr: data["line_str"], str: data["str"],
		rangeLists: data["ranges"], rnglists: data["rnglists"],
		lines: make(map[int64]*lineTable),
	}
	for _, p := range module.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			d.code = append(d.code, p)
		}
	}
	info := len(data["info"])
	d.rangesLeft = info + 4*(len(d.rangeLists)+len(d.rnglists))
	d.textLeft = 64*(info+len(d.line)+len(d.str)) + 1<<20
	d.rowsLeft = len(d.line)

	if err := d.readUnits(data["info"], data["abbrev"]); err != nil {
		return nil, fmt.Errorf("read DWARF: %w", err)
	}
	err = guard(func() error {
		d.data, err = dwarf.New(data["abbrev"], nil, nil, data["info"], d.line, nil, data["ranges"], d.str)
		if err != nil {
			return err
		}
		for _, name := range sectionNames[5:] {
			if b := data[name]; b != nil {
				if err := d.data.AddSection(".debug_"+name, b); err != nil {
					return err
				}
			}
		}
		return d.readRanges()
	})
	if err != nil {
		return nil, fmt.Errorf("read DWARF: %w", err)
	}
	return d, nil
}

// guard calls f and turns a panic into an error: debug/dwarf says of itself
// that malformed input may make it panic (an index of a file that is negative,
// a length that wraps around).
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed DWARF: %v", p)
		}
	}()
	return f()
}

// isCode reports whether [lo, hi) lies in the module's code. Functions that the
// linker dropped have addresses that do not (0, or beyond everything).
func (d *debugInfo) isCode(lo, hi uint64) bool {
	for _, p := range d.code {
		if lo >= p.Vaddr && lo < hi && hi-p.Vaddr <= p.Memsz {
			return true
		}
	}
	return false
}

// entryRanges returns the code of an entry. The caller holds d.mu.
func (d *debugInfo) entryRanges(e *dwarf.Entry) ([][2]uint64, error) {
	if d.rangesLeft -= 1 + d.rangeListSize(e); d.rangesLeft < 0 {
		return nil, errTooMuch
	}
	all, err := d.data.Ranges(e)
	if err != nil {
		return nil, err
	}
	keep := all[:0]
	for _, r := range all {
		if d.isCode(r[0], r[1]) {
			keep = append(keep, r)
		}
	}
	return keep, nil
}

// rangeListSize returns how many bytes of range lists an entry refers to: the
// list in .debug_ranges (DWARF 4 section 2.17.3) or .debug_rnglists (DWARF 5
// section 7.25), up to its end.
func (d *debugInfo) rangeListSize(e *dwarf.Entry) int {
	var off uint64
	switch v := e.Val(dwarf.AttrRanges).(type) {
	case int64:
		off = uint64(v)
	case uint64:
		off = v
	default:
		return 0
	}
	u := d.unitAt(e.Offset)
	if u == nil {
		return 0
	}
	if u.version >= 5 && d.rnglists != nil {
		if off > uint64(len(d.rnglists)) {
			return 0
		}
		c := cursor{data: d.rnglists[off:], order: d.order}
		for !c.bad {
			switch c.uint(1) {
			case 0: // end of list
				return len(d.rnglists) - int(off) - len(c.data)
			case 1: // base_addressx
				c.uleb()
			case 2, 3, 4: // startx_endx, startx_length, offset_pair
				c.uleb()
				c.uleb()
			case 5: // base_address
				c.uint(u.addrSize)
			case 6: // start_end
				c.uint(u.addrSize)
				c.uint(u.addrSize)
			case 7: // start_length
				c.uint(u.addrSize)
				c.uleb()
			}
		}
		return len(d.rnglists) - int(off)
	}
	if off > uint64(len(d.rangeLists)) {
		return 0
	}
	c := cursor{data: d.rangeLists[off:], order: d.order}
	for lo, hi := c.uint(u.addrSize), c.uint(u.addrSize); lo != 0 || hi != 0; {
		lo, hi = c.uint(u.addrSize), c.uint(u.addrSize)
	}
	return len(d.rangeLists) - int(off) - len(c.data)
}

// entryText counts the strings of an entry, which debug/dwarf copies.
func (d *debugInfo) entryText(e *dwarf.Entry) error {
	for _, f := range e.Field {
		if s, ok := f.Val.(string); ok {
			d.textLeft -= len(s)
		}
	}
	if d.textLeft < 0 {
		return errTooMuch
	}
	return nil
}
