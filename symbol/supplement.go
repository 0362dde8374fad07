package symbol

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// supLink names a supplementary file. It has the DWARF that several files share. dwz makes one for a
// whole package.
type supLink struct {
	name string
	id   string // build ID, hexadecimal
}

// readSupLink reads the link to a supplementary file from .gnu_debugaltlink, which has a name and a
// build ID, or from .debug_sup (DWARF 5 section 7.3.6). The name is "" where im has neither.
func readSupLink(im *elf.Image) (l supLink, err error) {
	data, _, err := im.Section(".gnu_debugaltlink")
	if err == nil {
		return parseAltLink(data)
	}
	if !errors.Is(err, elf.ErrNoSection) {
		return l, err
	}
	l, supplementary, err := readDebugSup(im)
	if supplementary {
		l.name = ""
	}
	return l, err
}

func parseAltLink(data []byte) (l supLink, err error) {
	c := dwarfdata.New(data, nil)
	l.name = c.String()
	id := c.Take(c.Left())
	if c.Bad || l.name == "" || len(id) < 2 || len(id) > maxSupID {
		return supLink{}, fmt.Errorf("section .gnu_debugaltlink: % x: not a file name and a build ID", data[:min(len(data), 64)])
	}
	l.id = hex.EncodeToString(id)
	return l, nil
}

// maxSupID is the length in bytes of the longest build ID.
const maxSupID = 64

// readDebugSup reads .debug_sup. Both files have it. supplementary is true in the supplementary file.
func readDebugSup(im *elf.Image) (l supLink, supplementary bool, err error) {
	data, _, err := im.Section(".debug_sup")
	if err != nil {
		if errors.Is(err, elf.ErrNoSection) {
			err = nil
		}
		return l, false, err
	}
	return parseDebugSup(data, im.Order)
}

func parseDebugSup(data []byte, order binary.ByteOrder) (l supLink, supplementary bool, err error) {
	c := dwarfdata.New(data, order)
	version := c.Uint(2)
	supplementary = c.Uint(1) != 0
	l.name = c.String()
	id := c.Take(c.ULEB128())
	if c.Bad || version != 5 || l.name == "" && !supplementary || len(id) < 2 || len(id) > maxSupID {
		return supLink{}, false, fmt.Errorf("section .debug_sup: % x: version %d, not a file name and a checksum", data[:min(len(data), 64)], version)
	}
	l.id = hex.EncodeToString(id)
	return l, supplementary, nil
}

// findSupplement opens the DWARF that a file of the module shares with others. It returns nil if there
// is none, and warns if it is missing.
func (mod *elfModule) findSupplement(x *sharedInfo) *debugInfo {
	from := x.from
	link, err := readSupLink(from)
	if err != nil {
		mod.warn("%s: %w", mod.m.Path, err)
	}
	if link.name == "" {
		return nil
	}
	var why error = fs.ErrNotExist
	for _, name := range mod.supplementNames(from, link) {
		im, err := mod.openOther(name)
		if err == nil {
			err = link.matches(im)
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
	mod.warn("%s: shared debug information %s of build ID %s: %w: names are missing; install the package of debug files that has it", mod.m.Path, link.name, link.id, why)
	return nil
}

func (l *supLink) matches(im *elf.Image) error {
	id := im.BuildID
	if sup, _, err := readDebugSup(im); err == nil && sup.id == l.id {
		id = sup.id
	}
	if id != l.id {
		return fmt.Errorf("build ID is %q: %w", id, ErrMismatch)
	}
	return nil
}

// supplementNames returns where the supplementary file of from may be: at its name, which is relative
// to the folder of from; by its build ID; in the folder .dwz; in the folders of debug files themselves.
func (mod *elfModule) supplementNames(from *elf.Image, link supLink) (list []regular.At) {
	for _, root := range mod.roots() {
		add := func(names ...string) {
			for _, name := range names {
				list = append(list, regular.At{Root: root, Path: name})
			}
		}
		if path.IsAbs(link.name) {
			add(link.name)
		} else if from == mod.image && path.IsAbs(mod.path()) {
			add(filepath.Join(path.Dir(mod.path()), link.name))
		}
		for _, d := range mod.s.opts.DebugDirs {
			add(filepath.Join(d, ".build-id", link.id[:2], link.id[2:]+".debug"),
				filepath.Join(d, ".dwz", path.Base(link.name)),
				filepath.Join(d, path.Base(link.name)))
		}
	}
	if at := placeOf(from); at.Path != "" && !path.IsAbs(link.name) {
		// A link from .build-id may lead to the file.
		if to, err := at.Resolve(); err == nil {
			at = to
		}
		list = append(list, at.With(filepath.Join(filepath.Dir(at.Path), link.name)))
	}
	if at := mod.byBuildID(link.id); at.Path != "" {
		list = append(list, at)
	}
	return list
}
