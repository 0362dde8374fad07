package fromelf

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
)

// findDebugFile opens the separate debug file: by the build ID, then by .gnu_debuglink; nil if
// there is none.
func (d *Dump) findDebugFile() *elf.Image {
	im := d.image
	if id := im.BuildID; len(id) > 2 && !d.opts.LikeDumpSyms {
		for _, dir := range d.opts.DebugDirs {
			if debug := d.openOther(filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")); debug != nil && debug.BuildID == id {
				return debug
			}
		}
	}
	data, _, err := im.Section(".gnu_debuglink")
	if err != nil {
		if !errors.Is(err, elf.ErrNoSection) {
			d.warn(nil, err)
		}
		return nil
	}
	name, crc, err := dwarfdata.ReadDebugLink(data, im.Order)
	if err != nil {
		d.warn(nil, err)
		return nil
	}
	for _, path := range d.linked(name) {
		if debug := d.openOther(path); debug != nil {
			if err := matches(debug, im, crc); err != nil {
				d.warn(nil, fmt.Errorf("debug file %s: %w: it is left out", path, err))
				continue
			}
			return debug
		}
	}
	return nil
}

// linked returns where the file of .gnu_debuglink may be. dump_syms looks in the folders that it is
// told alone.
func (d *Dump) linked(name string) (list []string) {
	for _, dir := range d.opts.DebugDirs {
		list = append(list, filepath.Join(dir, name))
	}
	path, err := filepath.Abs(d.image.Path)
	if d.opts.LikeDumpSyms || d.image.Path == "" || err != nil {
		return list
	}
	dir := filepath.Dir(path)
	if name != filepath.Base(path) {
		list = append(list, filepath.Join(dir, name))
	}
	list = append(list, filepath.Join(dir, ".debug", name))
	for _, d := range d.opts.DebugDirs {
		list = append(list, filepath.Join(d, dir, name))
	}
	return list
}

// matches reports why a debug file does not belong to im, whose .gnu_debuglink has the checksum
// crc.
func matches(debug, im *elf.Image, crc uint32) error {
	if debug.BuildID != im.BuildID {
		return fmt.Errorf("its build ID is %q, not %q", debug.BuildID, im.BuildID)
	}
	if im.BuildID != "" {
		return nil
	}
	if err := debug.Readable(); err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, debug.File()); err != nil {
		return err
	}
	if sum.Sum32() != crc {
		return fmt.Errorf("its checksum is %#x, not %#x", sum.Sum32(), crc)
	}
	return nil
}

// supplement opens the file with the DWARF that im shares with others (dwz); nil if there is none.
func (d *Dump) supplement(im *elf.Image) *sections {
	var link dwarfdata.Link
	own := false
	data, _, err := im.Section(".gnu_debugaltlink")
	if err == nil {
		link, err = dwarfdata.ReadAltLink(data)
	} else if errors.Is(err, elf.ErrNoSection) {
		if data, _, err = im.Section(".debug_sup"); errors.Is(err, elf.ErrNoSection) {
			return nil
		}
		if err == nil {
			link, own, err = dwarfdata.ReadSup(data, im.Order)
		}
	}
	if err != nil {
		d.warn(nil, err)
	}
	if err != nil || own {
		return nil
	}
	name, want := link.Name, link.ID
	var paths []string
	if filepath.IsAbs(name) {
		paths = append(paths, name)
	} else if im.Path != "" {
		dir := filepath.Dir(im.Path)
		if real, err := filepath.EvalSymlinks(im.Path); err == nil {
			dir = filepath.Dir(real)
		}
		paths = append(paths, filepath.Join(dir, name))
	}
	for _, dir := range d.opts.DebugDirs {
		paths = append(paths, filepath.Join(dir, ".build-id", want[:2], want[2:]+".debug"), filepath.Join(dir, ".dwz", filepath.Base(name)), filepath.Join(dir, filepath.Base(name)))
	}
	for _, path := range paths {
		sup := d.openOther(path)
		if sup == nil || sup.BuildID != want && !hasID(sup, want) {
			continue
		}
		s, err := d.readSections(sup, "")
		if err == nil {
			err = s.listUnits()
		}
		if err != nil {
			d.warn(nil, fmt.Errorf("%s: %w", path, err))
			continue
		}
		return s
	}
	d.warn(nil, fmt.Errorf("shared debug information %s of build ID %s: no such file: names are missing", name, want))
	return nil
}

// hasID reports whether the .debug_sup of a supplementary file has a checksum.
func hasID(sup *elf.Image, id string) bool {
	data, _, err := sup.Section(".debug_sup")
	if err != nil {
		return false
	}
	l, _, err := dwarfdata.ReadSup(data, sup.Order)
	return err == nil && l.ID == id
}
