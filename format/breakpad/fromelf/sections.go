package fromelf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
)

// sections are the sections of DWARF of one file, or of one unit's part of a file with split DWARF.
type sections struct {
	order binary.ByteOrder

	info, line                      blob
	abbrev, str, lineStr            []byte
	ranges, rngLists, addr, strOffs []byte

	sup   *sections     // the supplementary file that several files share; nil if there is none
	units []*unit       // of info, by offset
	left  *atomic.Int64 // Dump.sharedLeft

	mu      sync.Mutex
	foreign map[*unit]*foreign // units that entries of others refer to
	held    uint64             // bytes of them
}

// spend counts n bytes that units may share, and are read for each. The error is errShared.
func (s *sections) spend(n uint64) error {
	if s.left.Add(-int64(n)) < 0 {
		return errShared
	}
	return nil
}

// readSections reads the sections whose names begin with .debug_, and end with suffix.
func (d *Dump) readSections(im *elf.Image, suffix string) (*sections, error) {
	s := &sections{order: im.Order, left: &d.sharedLeft}
	for _, want := range []struct {
		name string
		to   *[]byte
	}{
		{"abbrev", &s.abbrev}, {"str", &s.str}, {"line_str", &s.lineStr}, {"ranges", &s.ranges},
		{"rnglists", &s.rngLists}, {"addr", &s.addr}, {"str_offsets", &s.strOffs},
	} {
		data, _, err := im.Section(".debug_"+want.name+suffix, ".zdebug_"+want.name+suffix)
		if err != nil && !errors.Is(err, elf.ErrNoSection) {
			return nil, err
		}
		*want.to = data
	}
	for name, to := range map[string]*blob{"info": &s.info, "line": &s.line} {
		b, err := openBlob(im, ".debug_"+name+suffix, ".zdebug_"+name+suffix)
		if err != nil && !errors.Is(err, elf.ErrNoSection) {
			return nil, err
		}
		*to = b
	}
	return s, nil
}

// textAt returns the string at an offset of a section, without a copy; nil if there is none.
func textAt(section []byte, off uint64) []byte {
	if off >= uint64(len(section)) {
		return nil
	}
	b := section[off:]
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		return nil
	}
	return b[:end]
}

// text returns v, a value of a unit with the bytes data, as a string; nil if it is none.
func (s *sections) text(u *unit, data []byte, v dwarfdata.Value) []byte {
	switch v.Class {
	case dwarfdata.ClassText:
		return textAt(data, v.N-u.Start)
	case dwarfdata.ClassStr:
		return textAt(s.str, v.N)
	case dwarfdata.ClassLineStr:
		return textAt(s.lineStr, v.N)
	case dwarfdata.ClassSupStr:
		if s.sup != nil {
			return textAt(s.sup.str, v.N)
		}
	case dwarfdata.ClassStrIndex:
		if off, ok := s.indexed(s.strOffs, u.strOffsets, v.N, int(u.OffsetSize)); ok {
			return textAt(s.str, off)
		}
	}
	return nil
}

// indexed returns the number of size bytes at an index of a table that begins at base.
func (s *sections) indexed(table []byte, base, index uint64, size int) (uint64, bool) {
	if base > uint64(len(table)) || index >= (uint64(len(table))-base)/uint64(size) {
		return 0, false
	}
	c := dwarfdata.New(table[base+index*uint64(size):], s.order)
	v := c.Uint(size)
	return v, !c.Bad
}

// address returns v, a value of a unit, as an address; ok is false if it is none.
func (s *sections) address(u *unit, v dwarfdata.Value) (addr uint64, ok bool) {
	switch v.Class {
	case dwarfdata.ClassAddress:
		return v.N, true
	case dwarfdata.ClassAddrIndex:
		return s.indexed(s.addr, u.addrBase, v.N, int(u.AddrSize))
	}
	return 0, false
}

// errCut says that a section ends too early.
var errCut = errors.New("cut off by the section's end, or malformed")

func cut(what string, off uint64) error { return fmt.Errorf("%s at offset %#x: %w", what, off, errCut) }

// foreign is a unit that entries of others refer to.
type foreign struct {
	data   []byte
	table  *dwarfdata.Abbrevs
	scopes *scopes // nil until they are asked for
}

// maxForeign is how many bytes are kept of units that others refer to.
const maxForeign = 48 << 20

// foreignUnit returns what entries of other units need of u; nil if it cannot be read.
func (s *sections) foreignUnit(u *unit) *foreign {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, known := s.foreign[u]
	if known {
		return f
	}
	if s.held += u.End - u.Start + 1<<10; s.foreign == nil || s.held > maxForeign {
		s.foreign, s.held = make(map[*unit]*foreign), u.End-u.Start
	}
	if table, err := s.readAbbrevs(u); err == nil {
		f = &foreign{data: s.info.part(u.Start, u.End, nil), table: table}
		if !s.head(u, f.data, table) {
			f = nil
		}
	}
	s.foreign[u] = f
	return f
}

// at returns a cursor at an offset of .debug_info, in u, whose bytes are data.
func (s *sections) at(u *unit, data []byte, off uint64) dwarfdata.Cursor {
	c := dwarfdata.Cursor{Reader: dwarfdata.New(data, s.order), Unit: &u.Unit, Base: u.Start}
	c.Seek(off)
	return c
}

// readAbbrevs reads the abbreviations of a unit.
func (s *sections) readAbbrevs(u *unit) (t *dwarfdata.Abbrevs, err error) {
	switch {
	case u.Abbrev >= uint64(len(s.abbrev)):
		err = errors.New("they lie beyond the section")
	case s.left.Load() < 0:
		err = errShared
	default:
		r := dwarfdata.New(s.abbrev[u.Abbrev:], s.order)
		t, err = dwarfdata.ReadAbbrevs(&r, true, u.Encoding, nil, func(int) error { return nil })
		s.spend(uint64(r.Off)) // an error is the next table's
		if r.Bad {
			err = errors.New("they are cut off, or have too large numbers")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("abbreviations at offset %#x: %w", u.Abbrev, err)
	}
	return t, nil
}

// base returns what lists of a unit are relative to.
func (s *sections) base(u *unit) dwarfdata.Base {
	return dwarfdata.Base{Encoding: u.Encoding, Addr: u.low, Index: func(i uint64) (uint64, bool) {
		return s.indexed(s.addr, u.addrBase, i, int(u.AddrSize))
	}}
}
