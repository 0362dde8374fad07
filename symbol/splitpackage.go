package symbol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// splitPackage is a .dwp file: many .dwo files in one. Its index tells which part of each section
// belongs to a unit (DWARF 5 section 7.3.5). Index version 2, from before DWARF 5, differs only in the
// numbers of the sections.
type splitPackage struct {
	path     string
	order    binary.ByteOrder
	sections *splitFile
	index    []byte // the section, from its hash table on

	slots, columns, units uint64
	column                packageColumns

	left atomic.Int64 // slots that may still be looked at beyond the first few for a unit: a table may lead through all
}

// slotLooks is how often each slot of an index may be looked at, on average.
const slotLooks = 64

// packageColumns are the columns of the sections in an index, counted from 0; -1 for none.
type packageColumns struct{ info, abbrev, locs, strOffsets, rangeLists int }

// Sections in an index, DWARF 5 table 7.1. Version 2 has no range lists.
const (
	packageInfo       = 1
	packageAbbrev     = 3
	packageLocs       = 5 // .debug_loc in version 2
	packageStrOffsets = 6
	packageRangeLists = 8
)

// openPackages opens the packages that belong to the module: in the program or its debug file, beside them, and in
// the directories of debug files.
func (s *splitFiles) openPackages() {
	mod := s.mod
	for _, im := range []*elf.Image{mod.image, mod.debug} {
		if im == nil || im.ELF().Section(".debug_cu_index") == nil {
			continue
		}
		if p, err := openPackage(im.Path, im, s.kept); err == nil {
			s.packages = append(s.packages, p)
		} else {
			mod.warn("%s: package of debug information within %s: %w: it is left out", mod.m.Path, im.Path, err)
		}
	}
	name := mod.path()
	var paths []regular.At
	for _, root := range mod.roots() {
		if filepath.IsAbs(name) {
			paths = append(paths, regular.At{Root: root, Path: filepath.Clean(name) + ".dwp"})
		}
		for _, d := range mod.s.opts.DebugDirs {
			paths = append(paths, regular.At{Root: root, Path: filepath.Join(d, filepath.Base(name)) + ".dwp"})
		}
	}
	for _, im := range []*elf.Image{mod.image, mod.debug} {
		if im == nil || im.Inside == "" {
			continue
		}
		if at := placeOf(im).With(im.Inside + ".dwp"); !slices.Contains(paths, at) {
			paths = append(paths, at)
		}
	}
	for _, at := range paths {
		im, err := mod.openOther(at)
		var p *splitPackage
		if err == nil {
			p, err = openPackage(im.Path, im, s.kept)
		}
		switch {
		case err == nil:
			s.packages = append(s.packages, p)
		case errors.Is(err, fs.ErrNotExist) || !mod.refuse(at):
		case errors.As(err, new(*regular.NotAllowedError)):
			mod.warn("%s: package of debug information left out: %w", mod.m.Path, err)
		default:
			mod.warn("%s: package of debug information %s: %w: it is left out: make it again from this build's .dwo files", mod.m.Path, at, err)
		}
	}
}

func openPackage(path string, im *elf.Image, kept *sharedInfo) (*splitPackage, error) {
	f, err := openSplitFile(im, kept)
	if err != nil {
		return nil, err
	}
	index, _, err := im.Section(".debug_cu_index")
	if err != nil {
		return nil, fmt.Errorf("index of units: %w", err)
	}
	p := &splitPackage{path: path, order: im.Order, sections: f}
	c := dwarfdata.New(index, im.Order)
	version := uint64(im.Order.Uint16(append(index[:min(len(index), 2):min(len(index), 2)], 0, 0)))
	if version == 5 {
		c.Uint(4)
	} else {
		version = c.Uint(4)
	}
	p.columns, p.units, p.slots = c.Uint(4), c.Uint(4), c.Uint(4)
	if c.Bad || version != 2 && version != 5 {
		return nil, fmt.Errorf("index of units: version %d, not 2 or 5", version)
	}
	p.index = c.Data[c.Off:]
	if size := uint64(len(p.index)); p.columns > 64 || p.slots > size/12 || p.slots&(p.slots-1) != 0 || p.units > size/4 ||
		12*p.slots+4*p.columns+8*p.columns*p.units > size {
		return nil, fmt.Errorf("index of units: %d slots, %d columns and %d units do not fit into %#x bytes", p.slots, p.columns, p.units, len(p.index))
	}
	p.left.Store(slotLooks * int64(p.slots))
	p.column = packageColumns{-1, -1, -1, -1, -1}
	for i := range int(p.columns) {
		switch p.number(12*p.slots + 4*uint64(i)) {
		case packageInfo:
			p.column.info = i
		case packageAbbrev:
			p.column.abbrev = i
		case packageLocs:
			p.column.locs = i
		case packageStrOffsets:
			p.column.strOffsets = i
		case packageRangeLists:
			if version == 5 { // .debug_macro in version 2
				p.column.rangeLists = i
			}
		}
	}
	if p.column.info < 0 || p.column.abbrev < 0 {
		return nil, errors.New("index of units: no column of .debug_info or .debug_abbrev")
	}
	return p, nil
}

func (p *splitPackage) number(at uint64) uint64 { return uint64(p.order.Uint32(p.index[at:])) }

// find returns the parts of a unit; nil if the package does not have it.
func (p *splitPackage) find(id uint64) *splitFile {
	if p.slots == 0 {
		return nil
	}
	mask := p.slots - 1
	step := id>>32&mask | 1
	for slot, tries := id&mask, uint64(0); tries < p.slots; slot, tries = (slot+step)&mask, tries+1 {
		if tries >= 8 && p.left.Add(-1) < 0 {
			return nil
		}
		row := p.number(8*p.slots + 4*slot)
		if row == 0 || row > p.units {
			return nil
		}
		if p.order.Uint64(p.index[8*slot:]) == id {
			return p.parts(row - 1)
		}
	}
	return nil
}

// parts returns a unit's parts of the sections.
func (p *splitPackage) parts(row uint64) *splitFile {
	offsets := 12*p.slots + 4*p.columns
	part := func(s *section, column int) *section {
		if column < 0 {
			return nil
		}
		at := offsets + 4*(row*p.columns+uint64(column))
		return s.part(p.number(at), p.number(at+4*p.columns*p.units))
	}
	all := p.sections
	f := &splitFile{
		info: part(all.info, p.column.info), abbrev: part(all.abbrev, p.column.abbrev), str: all.str,
		strOffsets: part(all.strOffsets, p.column.strOffsets), rangeLists: part(all.rangeLists, p.column.rangeLists),
		locLists: part(all.locLists, p.column.locs), oldLocs: part(all.oldLocs, p.column.locs),
		left: all.left, room: all.room,
	}
	if f.info == nil {
		return nil
	}
	return f
}
