package symbol

import (
	"debug/dwarf"
	"fmt"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// scanLevel is one level of nesting in a scan.
type scanLevel struct {
	scope    int32 // index of the scope of the entries there; -1 for none
	function int32 // index of the function whose children are there; -1 for none
	begun    bool  // the scope begins with the entry around them
}

// unitScan goes over all entries of a unit, and notes its functions and scopes.
type unitScan struct {
	d     *debugInfo
	u     *unit
	into  *contents
	table *abbrevs
	c     dwarfdata.Cursor

	levels []scanLevel
	ranges [][2]uint64 // room for the ranges of a function
}

// scanPart is how many bytes of a unit are read at once: they stay in a processor's cache.
const scanPart = len(largeBuffer{})

// scanUnit reads the contents of a unit. The caller holds d.mu.
func (d *debugInfo) scanUnit(u *unit, into *contents) error {
	table, err := d.abbrevs(u)
	if err != nil {
		return err
	}
	if u.End-u.Start > maxUnit {
		return fmt.Errorf("%d bytes, more than %d: it is not read", u.End-u.Start, uint64(maxUnit))
	}
	if u.again { // the same work is done once more
		if !d.room.work(int64(u.End-u.Entry) + u.ranges) {
			return fmt.Errorf("once more: %w", errTooMuch)
		}
		left := d.rangesLeft.Load()
		d.rangesLeft.Store(left + u.ranges)
		defer d.rangesLeft.Store(left)
	} else {
		left := d.rangesLeft.Load()
		defer func() { u.ranges = left - d.rangesLeft.Load() }()
	}
	s := unitScan{d: d, u: u, into: into, table: table, levels: []scanLevel{{scope: -1, function: -1}}}
	s.c = dwarfdata.Cursor{Unit: &u.Unit}
	err = s.run()
	for i := range into.functions { // cut off by an error
		if f := &into.functions[i]; f.end == 0 {
			f.end = uint32(u.End - u.Start)
		}
	}
	for i := range into.scopes {
		if x := &into.scopes[i]; x.end == 0 {
			x.end = uint32(u.End - u.Start)
		}
	}
	into.functions, into.scopes = slices.Clip(into.functions), slices.Clip(into.scopes)
	return err
}

func (s *unitScan) run() error {
	u := s.u
	room := borrow(u.End - u.Entry)
	defer giveBack(room)
	for off, size := u.Entry, uint64(scanPart); off < u.End; {
		data, err := s.d.unitPart(u, off, min(u.End, off+size), room)
		if err != nil {
			return err
		}
		s.c.Reader, s.c.Base = dwarfdata.New(data, s.d.order), off
		next, err := s.part()
		if err != nil || next == off && s.c.Base+uint64(len(data)) == u.End {
			return err
		}
		if size = uint64(scanPart); next == off { // a large entry
			size = 16 * uint64(len(data))
		}
		off = next
	}
	return nil
}

// part goes over the entries that are in the data of s.c. It returns the offset in the section at
// which to go on: of an entry that the end of the data cuts off, of a sibling behind it, or the end
// of the unit.
func (s *unitScan) part() (next uint64, err error) {
	c, data, u := &s.c, s.c.Data, s.u
	for off := 0; off < len(data); {
		start := off
		code := uint64(data[off])
		if off++; code >= 0x80 {
			c.Off = start
			if code = c.ULEB128(); c.Bad {
				return s.cut(start)
			}
			off = c.Off
		}
		if code == 0 {
			if s.leave(uint32(c.Base-u.Start) + uint32(off)) {
				return u.End, nil
			}
			continue
		}
		a := s.table.Find(code)
		if a == nil {
			return 0, fmt.Errorf("entry at offset %#x: no abbreviation has code %d", c.Base+uint64(start), code)
		}
		kind := scanKind(a.Kind)
		if kind != scanFunction && !a.Children && a.Size >= 0 && a.Size <= len(data)-off {
			off += a.Size // most entries
			continue
		}
		inner := scanLevel{scope: s.levels[len(s.levels)-1].scope, function: -1}
		switch {
		case kind == scanEnum && u.head.language == languageScope, kind == scanNoCode && u.head.language == languageFortran:
			kind = scanScope
		case kind == scanEnum:
			kind = scanPast
		}
		end := -1
		if kind != scanFunction && (kind != scanScope || !a.Children) {
			end = a.Over(data, off)
		}
		if end < 0 {
			c.Off = off
			if kind == scanFunction || kind == scanScope {
				err = s.enter(a, start, &inner)
			} else {
				c.Skip(a)
			}
			switch {
			case err != nil:
				return 0, err
			case c.Err != nil:
				return 0, fmt.Errorf("entry at %w", c.Err)
			case c.Bad:
				return s.cut(start)
			}
			end = c.Off
		}
		if !a.Children {
			if off = end; inner.function >= 0 {
				s.into.functions[inner.function].end = uint32(c.Base-u.Start) + uint32(end)
			}
			continue
		}
		if kind == scanPast && a.Sibling >= 0 {
			c.Off = off + a.Sibling
			if to := u.Start + c.Uint(4); to > c.Base+uint64(end) && to < u.End { // the scan never goes back
				if to >= c.Base+uint64(len(data)) {
					return to, nil
				}
				off = int(to - c.Base)
				continue
			}
		}
		if len(s.levels) == maxDepth {
			return 0, fmt.Errorf("entry at offset %#x: nested deeper than %d", c.Base+uint64(start), maxDepth)
		}
		off = end
		s.levels = append(s.levels, inner)
	}
	return c.Base + uint64(len(data)), nil
}

// cut returns where to go on if the data ends within the entry that begins at start. The error says
// that the unit ends there, or that a number is malformed.
func (s *unitScan) cut(start int) (next uint64, err error) {
	c := &s.c
	next = c.Base + uint64(start)
	switch {
	case c.Overflow:
		err = fmt.Errorf("entry at offset %#x: cut off by a number of more than 64 bits", next)
	case c.Base+uint64(len(c.Data)) == s.u.End:
		err = fmt.Errorf("entry at offset %#x: cut off by the unit's end (%#x)", next, s.u.End)
	}
	return next, err
}

// leave ends a level at an offset of the unit. It reports whether the unit's own entry ends there.
func (s *unitScan) leave(end uint32) bool {
	at := s.levels[len(s.levels)-1]
	if at.function >= 0 {
		s.into.functions[at.function].end = end
	}
	if at.begun {
		s.into.scopes[at.scope].end = end
	}
	s.levels = s.levels[:len(s.levels)-1]
	return len(s.levels) <= 1
}

// enter reads the attributes of a function or scope, whose entry begins at start in the data. It
// sets up inner for the entry's children.
func (s *unitScan) enter(a *dwarfdata.Abbrev, start int, inner *scanLevel) error {
	e := readEntry(&s.c, a)
	if s.c.Bad {
		return nil
	}
	at := uint32(s.c.Base-s.u.Start) + uint32(start)
	held := s.u.held
	if a.Tag == dwarf.TagSubprogram {
		e.held = held
		ranges, err := s.d.appendRanges(s.ranges[:0], s.u, s.u.head, &e)
		if err == errTooMuch {
			return err
		}
		if s.ranges = ranges; len(ranges) > 0 {
			const function = 16 // bytes
			if err := held.take(function); err != nil {
				return err
			}
			inner.function = int32(len(s.into.functions))
			s.into.functions = append(s.into.functions, codeEntry{start: at})
			for _, r := range ranges {
				s.into.code.Add(r[0], r[1], inner.function)
			}
		}
		if s.u.head.language != languageFortran {
			return nil
		}
	}
	if !a.Children {
		return nil
	}
	const size = 80 // bytes, with the room to grow
	if err := held.take(size); err != nil {
		return err
	}
	x := scope{start: at, parent: inner.scope, name: e.name}
	switch {
	case a.Tag == dwarf.TagSubprogram: // as GDB, without the scope of the function around
		x.alone, x.none = true, !e.name.Text()
	case a.Tag != dwarf.TagNamespace: // like GDB, methods of a class without a name (a lambda's) have no scope at all
		x.none = !e.name.Text()
	}
	inner.scope, inner.begun = int32(len(s.into.scopes)), true
	s.into.scopes = append(s.into.scopes, x)
	return nil
}
