package symbol

import (
	"debug/elf"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// ErrMismatch says that a separate debug file was made for another build of the
// module. Errors of [Symbolizer.Warnings] wrap it.
var ErrMismatch = errors.New("debug file does not belong to the module")

// roots returns the folders below which the module's paths are looked up, in this order: the
// module's own root, if it has one, and the host's, which is "".
func (mod *elfModule) roots() []string {
	if mod.s.opts.Root != nil {
		if root := mod.s.opts.Root(mod.m); root != "" && root != "/" {
			return []string{root, ""}
		}
	}
	return []string{""}
}

// placeOf returns the place at which an image was opened. Its Path is "" if the image was not
// opened by a path.
func placeOf(im *elfimage.Image) regular.At { return regular.At{Root: im.Root, Path: im.Inside} }

func sameFile(a, b regular.At) bool {
	first, err := a.Stat()
	if err != nil {
		return false
	}
	second, err := b.Stat()
	return err == nil && os.SameFile(first, second)
}

// findDebugFile opens the module's separate debug file: by its build ID, then by
// its .gnu_debuglink. It returns nil if there is none.
func (mod *elfModule) findDebugFile() *elfimage.Image {
	link, crc, linkErr := debugLink(mod.image)
	if linkErr != nil {
		mod.warn("%s: %w", mod.m.Path, linkErr)
	}
	id := mod.image.BuildID
	if len(id) > 2 {
		roots := mod.roots()
		for _, dir := range mod.s.opts.DebugDirs {
			for _, root := range roots {
				all := regular.At{Root: root, Path: filepath.Join(dir, ".build-id")}
				if mod.s.missing.is(all) {
					continue
				}
				at := all.With(filepath.Join(all.Path, id[:2], id[2:]+".debug"))
				if im := mod.openDebugFile(at, nil); im != nil {
					return im
				}
			}
		}
	}
	for _, root := range mod.roots() {
		for _, name := range mod.linkedNames(link) {
			// A link may have the module's own name. It then means the file of that name in another
			// folder.
			at := regular.At{Root: root, Path: name}
			if sameFile(at, at.With(mod.path())) {
				continue
			}
			if im := mod.openDebugFile(at, &crc); im != nil {
				return im
			}
		}
	}
	if own := placeOf(mod.image); own.Path != "" && link != "" { // the program may lie elsewhere on this machine
		dir := filepath.Dir(own.Path)
		for _, name := range []string{filepath.Join(dir, link), filepath.Join(dir, ".debug", link)} {
			at := own.With(name)
			if sameFile(at, own) {
				continue
			}
			if im := mod.openDebugFile(at, &crc); im != nil {
				return im
			}
		}
	}
	if at := mod.byBuildID(id); at.Path != "" {
		return mod.openDebugFile(at, nil)
	}
	return nil
}

// byBuildID returns where Options.ByBuildID knows a file of a build ID. The path is "" if it knows
// none.
func (mod *elfModule) byBuildID(id string) regular.At {
	if mod.s.opts.ByBuildID == nil || id == "" {
		return regular.At{}
	}
	path := mod.s.opts.ByBuildID(id)
	mod.kept.Store(path, true)
	return regular.At{Path: path}
}

// lacks is [Symbolizer.Lacks].
func (mod *elfModule) lacks() []string {
	if mod.image == nil || mod.image.File() == nil { // the vDSO's memory is no file
		return nil
	}
	named := hasSection(mod.image, elf.SHT_SYMTAB, "")
	if !hasDWARF(mod.image) && mod.debug == nil && !(named && mod.s.opts.SymbolsOnly) {
		if mod.image.BuildID == "" {
			return nil
		}
		return []string{mod.image.BuildID}
	}
	x := mod.dwarf()
	if x == nil {
		return nil
	}
	link, err := readSupLink(x.from)
	if err != nil || link.Name == "" {
		return nil
	}
	for _, at := range mod.supplementNames(x.from, link) {
		im, err := mod.openOther(at)
		if err == nil && supplements(im, link) == nil {
			return nil
		}
	}
	return []string{link.ID}
}

// linkedNames returns the paths at which the file of .gnu_debuglink may be.
func (mod *elfModule) linkedNames(link string) []string {
	file := mod.path()
	if link == "" || !path.IsAbs(file) {
		return nil
	}
	dir := path.Dir(file)
	names := []string{path.Join(dir, link), path.Join(dir, ".debug", link)}
	for _, d := range mod.s.opts.DebugDirs {
		names = append(names, path.Join(d, dir, link), path.Join(d, link))
	}
	return names
}

// debugLink reads .gnu_debuglink. The name is "" if there is none.
func debugLink(im *elfimage.Image) (name string, crc uint32, err error) {
	data, _, err := im.Section(".gnu_debuglink")
	if errors.Is(err, elfimage.ErrNoSection) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	return dwarfdata.ReadDebugLink(data, im.Order)
}

// openDebugFile opens a debug file that may or may not be there, and checks that
// it belongs to the module.
func (mod *elfModule) openDebugFile(at regular.At, crc *uint32) *elfimage.Image {
	im, f, err := elfimage.OpenFileBy(mod.openerOf(at), at.Root, at.Path)
	if err == nil {
		if err = mod.matches(im, f, crc); err == nil {
			mod.s.keep(f)
			im.Join(mod.image.Budget())
			return im
		}
		f.Close()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || !mod.refuse(at):
	case errors.As(err, new(*regular.NotAllowedError)):
		mod.warn("%s: debug file left out: %w", mod.m.Path, err)
	default:
		mod.warn("%s: debug file %s: %w: it is left out: install the debug file of this build", mod.m.Path, at, err)
	}
	return nil
}

// openerOf returns what opens a file: with this program's rights if the user has named its folder,
// for what the module has named as Options.Open does.
func (mod *elfModule) openerOf(at regular.At) elfimage.Opener {
	if mod.s.opts.Open == nil {
		return nil
	}
	if at.Root == "" {
		_, kept := mod.kept.Load(at.Path)
		if kept || slices.ContainsFunc(mod.s.opts.DebugDirs, func(dir string) bool {
			inside, err := filepath.Rel(dir, at.Path)
			return err == nil && filepath.IsLocal(inside)
		}) {
			return nil
		}
	}
	return func(root, path string) (*os.File, error) { return mod.s.opts.Open(mod.m, root, path) }
}

// refuse notes that a file belongs to another build, and reports whether that is news. The same
// file may be found twice: through a process's root and through the host's.
func (mod *elfModule) refuse(at regular.At) bool {
	file, err := at.Stat()
	if err != nil {
		return true
	}
	if slices.ContainsFunc(mod.refused, func(other os.FileInfo) bool { return os.SameFile(other, file) }) {
		return false
	}
	mod.refused = append(mod.refused, file)
	return true
}

func (mod *elfModule) matches(im *elfimage.Image, f *os.File, crc *uint32) error {
	if want := mod.image.BuildID; want != "" && im.BuildID != want && (im.BuildID != "" || crc == nil) {
		return fmt.Errorf("build ID is %q, not %q: %w", im.BuildID, want, ErrMismatch)
	}
	if im.Machine != mod.image.Machine || im.Class != mod.image.Class {
		return fmt.Errorf("machine is %v, not %v: %w", im.Machine, mod.image.Machine, ErrMismatch)
	}
	if crc == nil {
		return nil
	}
	if err := im.Readable(); err != nil {
		return err
	}
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if h.Sum32() != *crc {
		return fmt.Errorf("checksum is %#x, not %#x: %w", h.Sum32(), *crc, ErrMismatch)
	}
	return nil
}
