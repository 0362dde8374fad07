package symbol

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// readSupLink reads the link to a supplementary file from .gnu_debugaltlink, which has a name and a
// build ID, or from .debug_sup (DWARF 5 section 7.3.6). The name is "" where im has neither.
func readSupLink(im *elf.Image) (l dwarfdata.Link, err error) {
	data, _, err := im.Section(".gnu_debugaltlink")
	if err == nil {
		return dwarfdata.ReadAltLink(data)
	}
	if !errors.Is(err, elf.ErrNoSection) {
		return l, err
	}
	l, supplementary, err := readDebugSup(im)
	if supplementary {
		l.Name = ""
	}
	return l, err
}

// readDebugSup reads .debug_sup. Both files have it. supplementary is true in the supplementary
// file.
func readDebugSup(im *elf.Image) (l dwarfdata.Link, supplementary bool, err error) {
	data, _, err := im.Section(".debug_sup")
	if err != nil {
		if errors.Is(err, elf.ErrNoSection) {
			err = nil
		}
		return l, false, err
	}
	return dwarfdata.ReadSup(data, im.Order)
}

// findSupplement opens the DWARF that a file of the module shares with others. It returns nil if
// there is none, and warns if it is missing.
func (mod *elfModule) findSupplement(x *sharedInfo) *debugInfo {
	from := x.from
	link, err := readSupLink(from)
	if err != nil {
		mod.warn("%s: %w", mod.m.Path, err)
	}
	if link.Name == "" {
		return nil
	}
	var why error = fs.ErrNotExist
	for _, name := range mod.supplementNames(from, link) {
		im, err := mod.openOther(name)
		if err == nil {
			err = supplements(im, link)
		}
		var d *debugInfo
		if err == nil {
			d, err = openDWARF(im, mod.image, x)
		}
		if err == nil {
			d.code = nil // it has no addresses
			d.warn = func(err error) { x.warn(fmt.Errorf("%s: %w", name, err)) }
			return d
		}
		switch {
		case errors.As(err, new(*regular.NotAllowedError)):
			why = err
		case !errors.Is(err, fs.ErrNotExist):
			why = fmt.Errorf("%s: %w", name, err)
		}
	}
	if errors.Is(why, fs.ErrNotExist) {
		why = errors.New("no such file")
	}
	mod.warn("%s: shared debug information %s of build ID %s: %w: names are missing; install the package of debug files that has it", mod.m.Path, link.Name, link.ID, why)
	return nil
}

// supplements returns why an image is not the file that l names.
func supplements(im *elf.Image, l dwarfdata.Link) error {
	id := im.BuildID
	if sup, _, err := readDebugSup(im); err == nil && sup.ID == l.ID {
		id = sup.ID
	}
	if id != l.ID {
		return fmt.Errorf("build ID is %q: %w", id, ErrMismatch)
	}
	return nil
}

// supplementNames returns where the supplementary file of from may be: at its name, which is
// relative to the folder of from; by its build ID; in the folder .dwz; in the folders of debug
// files themselves.
func (mod *elfModule) supplementNames(from *elf.Image, link dwarfdata.Link) (list []regular.At) {
	for _, root := range mod.roots() {
		add := func(names ...string) {
			for _, name := range names {
				list = append(list, regular.At{Root: root, Path: name})
			}
		}
		if path.IsAbs(link.Name) {
			add(link.Name)
		} else if from == mod.image && path.IsAbs(mod.path()) {
			add(filepath.Join(path.Dir(mod.path()), link.Name))
		}
		for _, d := range mod.s.opts.DebugDirs {
			add(filepath.Join(d, ".build-id", link.ID[:2], link.ID[2:]+".debug"),
				filepath.Join(d, ".dwz", path.Base(link.Name)),
				filepath.Join(d, path.Base(link.Name)))
		}
	}
	if at := placeOf(from); at.Path != "" && !path.IsAbs(link.Name) {
		// A link from .build-id may lead to the file.
		if to, err := at.Resolve(); err == nil {
			at = to
		}
		list = append(list, at.With(filepath.Join(filepath.Dir(at.Path), link.Name)))
	}
	if at := mod.byBuildID(link.ID); at.Path != "" {
		list = append(list, at)
	}
	return list
}
