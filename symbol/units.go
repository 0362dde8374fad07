package symbol

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// unit is a compilation unit; or a partial unit, whose functions several units share; or a unit of
// one type.
type unit struct {
	dwarfdata.Unit

	headRead bool
	head     *header // nil if it cannot be read; under debugInfo.mu until contents are read

	opened   sync.Once
	split    *splitUnit               // nil where it is not split
	contents atomic.Pointer[contents] // nil if they are not read yet, or were dropped
	held     *holding                 // has their memory
	again    bool                     // they were read before; under debugInfo.mu
	ranges   int64                    // bytes of lists of ranges that were read for them; under debugInfo.mu
	details  details
	lines    atomic.Pointer[lineSlot]
	data     unitBytes
}

// header holds the attributes of a unit's first entry.
type header struct {
	name, dir    dwarfdata.Value // primary source file, compilation directory
	language     language
	languageCode dwarfdata.Value // DW_AT_language
	assembler    bool
	lines        dwarfdata.Value // offset in .debug_line
	ranges       [][2]uint64     // the unit's code

	base                          uint64 // address that the offsets in range lists are added to
	addrs, strOffsets, rangeLists uint64 // offsets of the unit's parts of these sections
	locLists                      uint64
	producer                      dwarfdata.Value
	oldRanges                     uint64 // offset in .debug_ranges that its split unit's offsets are added to

	splitName dwarfdata.Value // the file that has the rest of the unit; none where the unit is not split
	splitID   uint64
}

// unitSize is about the memory in bytes that a unit takes up before its entries are read.
const unitSize = 600

// readHeaders reads the headers of the units that begin at or before the offset to
// of .debug_info, unless they were read before (DWARF 5 section 7.5.1). The caller
// holds d.mu.
func (d *debugInfo) readHeaders(to uint64) {
	size := d.info.len()
	for d.next < size && d.next <= to {
		if len(d.early) > 0 && d.early[0].Start <= d.next {
			u := d.early[0]
			if d.early = d.early[1:]; u.Start == d.next { // else .debug_aranges lies
				d.units = append(d.units, u)
				d.next = u.End
			}
			continue
		}
		u, next, err := d.readUnit(d.next)
		if err != nil {
			d.warn(fmt.Errorf("read DWARF: %w", err))
		}
		if u != nil || err != nil {
			if err := d.take(unitSize); err != nil {
				d.warn(fmt.Errorf("read unit at offset %#x of .debug_info: %w", d.next, err))
				d.next = size
				return
			}
		}
		if u != nil {
			d.units = append(d.units, u)
		}
		d.next = next
	}
}

// readUnit reads the unit header at an offset, as [dwarfdata.Units.At] does; u is nil where that
// returns no unit.
func (d *debugInfo) readUnit(at uint64) (u *unit, next uint64, err error) {
	units := dwarfdata.Units{Order: d.order, Size: d.info.len(), Types: d.typesOnly, Read: d.info.bytes}
	header, next, err := units.At(at)
	if err == nil && header.End > 0 {
		u = &unit{Unit: header}
	}
	return u, next, err
}

// firstEntry is how many bytes are read at first for a unit's first entry.
const firstEntry = 256

// header returns the header of a unit; nil if its first entry cannot be read. The error is
// errTooMuch, is returned once, and was said: not every caller can leave out more than the unit.
// The caller holds d.mu.
func (d *debugInfo) header(u *unit) (*header, error) {
	if u.headRead {
		return u.head, nil
	}
	u.headRead = true
	h, err := d.readHeader(u)
	if err != nil {
		d.warn(fmt.Errorf("read unit at offset %#x of .debug_info: %w", u.Start, err))
	}
	return h, err
}

func (d *debugInfo) readHeader(u *unit) (*header, error) {
	for room := uint64(firstEntry); ; room = u.End {
		end := min(u.End, u.Entry+room)
		data, err := d.info.bytes(u.Entry, end)
		if err != nil {
			return nil, nil // this unit cannot be read; others can
		}
		c := dwarfdata.Cursor{Reader: dwarfdata.New(data, d.order), Unit: &u.Unit, Base: u.Entry}
		code := c.ULEB128()
		if code == 0 {
			return nil, nil
		}
		a, err := d.abbrevOf(u, code)
		if err == errTooMuch {
			return nil, err
		}
		if err != nil || a == nil {
			return nil, nil
		}
		e := readEntry(&c, a)
		if c.Bad && c.Err == nil && end < u.End {
			continue
		}
		if c.Bad {
			return nil, nil
		}
		u.head, err = d.newHeader(u, &e)
		return u.head, err
	}
}

func (d *debugInfo) newHeader(u *unit, e *entry) (h *header, err error) {
	h = &header{
		name: e.name, dir: e.dir, lines: e.lines, language: languageOf(e.language), languageCode: e.language, assembler: e.language.Class == dwarfdata.ClassConstant && e.language.N == langAssembler,
		addrs: e.addrs.N, strOffsets: e.strOffsets.N, rangeLists: e.rangeLists.N, oldRanges: e.oldRanges.N,
		locLists: e.locLists.N, producer: e.producer,
		splitName: e.splitName, splitID: u.ID,
	}
	if e.splitID.Class == dwarfdata.ClassConstant {
		h.splitID = e.splitID.N
	}
	if d.skeleton != nil {
		d.completeHeader(u, h)
		return h, nil
	}
	// Some compilers say DW_AT_entry_pc where they mean DW_AT_low_pc.
	var ok bool
	if h.base, ok = d.address(u, h, e.entryPC); !ok {
		h.base, _ = d.address(u, h, e.low)
	}
	if h.ranges, err = d.appendRanges(nil, u, h, e); err != errTooMuch {
		err = nil
	}
	return h, err
}

// whole returns the code of all units. It reads all their headers.
func (d *debugInfo) whole() *interval.Nested[int32] {
	d.wholeRead.Do(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.info.keep()
		d.readHeaders(d.info.len())
		for i, u := range d.units {
			if u.TypeEntry != 0 {
				continue
			}
			h, err := d.header(u)
			if err != nil {
				break
			}
			if h != nil {
				for _, r := range h.ranges {
					d.ranges.Add(r[0], r[1], int32(i))
				}
			}
		}
		d.ranges.Sort()
	})
	return &d.ranges
}

// unitAt returns the unit that holds an offset of .debug_info, or nil.
func (d *debugInfo) unitAt(off uint64) *unit {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.early
	i := sort.Search(len(list), func(i int) bool { return list[i].End > off })
	if i == len(list) || off < list[i].Entry {
		d.readHeaders(off)
		list = d.units
		i = sort.Search(len(list), func(i int) bool { return list[i].End > off })
	}
	if i < len(list) && off >= list[i].Entry {
		return list[i]
	}
	return nil
}

// language says how the names of a unit are spelled.
type language uint8

const (
	languageFlat    language = iota // C, Go, assembly: the name as it is
	languageCXX                     // linkage names; namespaces and classes with ::
	languageScope                   // Rust, D: namespaces with ::, linkage names are not for people
	languageFortran                 // modules, and functions around a function, with ::
	languageAda                     // names, decoded
	languageUnknown
)

// scopesTypes reports whether types are shown with the scopes that they are in.
func (l language) scopesTypes() bool {
	return l == languageCXX || l == languageScope || l == languageUnknown
}

// langAssembler is DW_LANG_Mips_Assembler, which assemblers for all processors use.
const langAssembler = 0x8001

// languageOf classifies a DW_LANG code, DWARF 5 table 7.17 and its later
// additions.
func languageOf(code dwarfdata.Value) language {
	if code.Class != dwarfdata.ClassConstant {
		return languageUnknown
	}
	switch code.N {
	case 0x04, 0x11, 0x1a, 0x21, 0x2b, 0x3a: // C_plus_plus, ObjC_plus_plus, C++ 11, 14, 17, 20
		return languageCXX
	case 0x13, 0x1c: // D, Rust
		return languageScope
	case 0x07, 0x08, 0x0e, 0x22, 0x23: // Fortran 77, 90, 95, 03, 08
		return languageFortran
	case 0x03, 0x0d, 0x2e, 0x2f: // Ada 83, 95, 2005, 2012
		return languageAda
	}
	return languageFlat
}
