package symbol

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// debugInfo is the DWARF of one module. Addresses are link-time ones. It does without debug/dwarf,
// which needs whole sections, and reads each unit before it answers a question about one.
type debugInfo struct {
	order binary.ByteOrder
	code  []elf.ProgHeader // executable segments of the module
	warn  func(error)

	// Of the rest of a split unit: the module's own DWARF, the unit there, and its header.
	outer        *debugInfo
	skeleton     *header
	skeletonUnit *unit

	splits func(name, dir string, id uint64) iter.Seq[*splitFile] // finds the rest of a split unit

	info, abbrev, line           *section
	str, lineStr, strOffsets     *section
	addrs, rangeLists, oldRanges *section
	aranges                      *section
	locLists, oldLocs            *section

	// types has the units of .debug_types, where DWARF 4 keeps types (section 7.5.1.2); nil if
	// there are none. There, typesOnly is set, and main is the DWARF that refers to them.
	types     *debugInfo
	typesOnly bool
	main      *debugInfo
	signed    map[uint64]*unit // units of one type, by their signatures; nil until it is first asked for

	supplement func() *debugInfo // opens the supplementary file, which several files share; nil if it cannot be read

	mu     sync.Mutex
	units  []*unit // ascending by offset in .debug_info, as far as they were read
	next   uint64  // offset of the first unit header that was not read
	early  []*unit // ascending by offset: those behind next that .debug_aranges has led to
	tables map[dwarfdata.AbbrevKey]*abbrevs
	last   struct { // abbreviation of a unit's first entry
		abbrev *dwarfdata.Abbrev
		key    dwarfdata.AbbrevKey
		code   uint64
	}
	lines map[uint64]*lineSlot // by offset in .debug_line

	listedAsked int    // how often .debug_aranges was gone through
	arangesData []byte // its bytes until it is sorted
	listedRead  bool
	listed      interval.Nested[int32] // code that .debug_aranges lists, with an index into listedAt
	listedAt    []uint64               // offsets of the units in .debug_info

	wholeRead sync.Once
	ranges    interval.Nested[int32] // the code of all units, with their index

	unrangedRead sync.Once
	unrangedCode interval.Nested[int32] // the functions of units that have no ranges, with the unit's index

	// The work that may still be done. In a hostile file, everything may refer to the same large
	// thing. These bounds keep its cost at the cost of an honest file of the same size.
	abbrevsLeft, rangesLeft, textLeft, rowsLeft, typesLeft atomic.Int64

	// scopesLeft bounds the ranges that are looked at, and the bytes of their lists, to find which
	// scopes have code at addresses.
	scopesLeft atomic.Int64

	// Warnings say that inlined calls, variables, or names of functions or files are left out.
	deep, manyScopes, many, unnamed sync.Once

	// The memory that may still be taken: a multiple of the file's bytes on disk, whatever its
	// sections claim or expand to. Parts of a split file share it.
	room *room
}

// errTooMuch is a [elfimage.ErrBudget], too.
var errTooMuch error = tooMuch{}

type tooMuch struct{}

func (tooMuch) Error() string {
	return "DWARF refers to the same data too often, or the DWARF of all files together takes up too much memory: the rest is left out"
}

func (tooMuch) Is(err error) bool { return err == elfimage.ErrBudget }

// spend takes n from left; the error is errTooMuch.
func (d *debugInfo) spend(left *atomic.Int64, n uint64) error {
	if left.Add(-int64(n)) < 0 {
		return errTooMuch
	}
	return nil
}

// take takes n bytes of memory from the room; the error is errTooMuch.
func (d *debugInfo) take(n int) error {
	if !d.room.fits(int64(n)) {
		return errTooMuch
	}
	return nil
}

// holdings returns what can be dropped to make room.
func (d *debugInfo) holdings() *holdings { return &d.room.kept.holdings }

// openDWARF opens the DWARF of from, which describes the code of module. Its memory belongs to
// kept.
func openDWARF(from, module *elfimage.Image, kept *sharedInfo) (d *debugInfo, err error) {
	d = &debugInfo{
		order: from.Order,

		supplement: func() *debugInfo { return nil },

		tables: make(map[dwarfdata.AbbrevKey]*abbrevs),
		lines:  make(map[uint64]*lineSlot),
		room:   roomFor(from, kept),
	}
	const together = 8 << 10 // small items that lie side by side are read at once
	for _, s := range []struct {
		section **section
		name    string
		ahead   uint64
	}{
		{&d.info, "info", 0}, {&d.line, "line", 0}, {&d.aranges, "aranges", 0}, {&d.abbrev, "abbrev", together},
		{&d.str, "str", 0}, {&d.lineStr, "line_str", 0}, {&d.strOffsets, "str_offsets", together},
		{&d.addrs, "addr", together}, {&d.rangeLists, "rnglists", together}, {&d.oldRanges, "ranges", together},
		{&d.locLists, "loclists", together}, {&d.oldLocs, "loc", together},
	} {
		if *s.section, err = openSection(from, s.name, s.ahead); err != nil {
			return nil, fmt.Errorf("read DWARF: %w", err)
		}
		if x := *s.section; x != nil {
			x.room = d.room
		}
	}
	if err := d.openTypes(from); err != nil {
		return nil, err
	}
	for _, p := range module.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			d.code = append(d.code, p)
		}
	}
	d.limit()
	if d.types != nil {
		d.types.limit()
	}
	return d, nil
}

// limit bounds the reading: by a multiple of the sections' sizes, as far as the file has their
// bytes.
func (d *debugInfo) limit() {
	room := uint64(d.room.left.Load())
	believed := func(s *section) uint64 { return min(s.len(), room) }
	info := believed(d.info)
	d.abbrevsLeft.Store(int64(16*min(info+believed(d.abbrev), room) + 1<<20))
	d.rangesLeft.Store(int64(2*info + 4*(believed(d.oldRanges)+believed(d.rangeLists))))
	d.textLeft.Store(int64(min(64*(info+believed(d.line)+believed(d.str))+1<<20, 4*room)))
	d.rowsLeft.Store(int64(believed(d.line)))
	d.scopesLeft.Store(int64(room))
	d.typesLeft.Store(int64(16*info + 1<<10))
}

// isCode reports whether [lo, hi) lies in the module's code. Functions that the
// linker dropped have addresses that do not (0, or beyond everything).
func (d *debugInfo) isCode(lo, hi uint64) bool {
	for i := range d.code {
		p := &d.code[i]
		if lo >= p.Vaddr && lo < hi && hi-p.Vaddr <= p.Memsz {
			return true
		}
	}
	return false
}
