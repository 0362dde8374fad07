package symbol

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// splitPackage is a .dwp file: many .dwo files in one.
type splitPackage struct {
	path     string
	sections *splitFile
	index    *dwarfdata.PackageIndex
}

// openPackages opens the packages that belong to the module: in the program or its debug file,
// beside them, and in the directories of debug files.
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
	p := &splitPackage{path: path, sections: f}
	p.index, err = dwarfdata.ReadPackageIndex(index, im.Order)
	return p, err
}

// find returns the parts of a unit; nil if the package does not have it.
func (p *splitPackage) find(id uint64) *splitFile {
	row, ok := p.index.Find(id)
	if !ok {
		return nil
	}
	part := func(s *section, of int) *section {
		from, n, ok := p.index.Part(row, of)
		if !ok {
			return nil
		}
		return s.part(from, n)
	}
	all := p.sections
	f := &splitFile{
		info: part(all.info, dwarfdata.PackageInfo), abbrev: part(all.abbrev, dwarfdata.PackageAbbrev), str: all.str,
		strOffsets: part(all.strOffsets, dwarfdata.PackageStrOffsets), rangeLists: part(all.rangeLists, dwarfdata.PackageRangeLists),
		locLists: part(all.locLists, dwarfdata.PackageLocs), oldLocs: part(all.oldLocs, dwarfdata.PackageLocs),
		left: all.left, room: all.room,
	}
	if f.info == nil {
		return nil
	}
	return f
}
