package symbol

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// splitFiles finds the files of a module's split DWARF, and keeps what was opened.
type splitFiles struct {
	mod  *elfModule
	kept *sharedInfo // the DWARF that their contents are a part of

	packagesRead sync.Once
	packages     []*splitPackage

	mu      sync.Mutex
	opened  map[regular.At]*splitFile // nil where there is no split DWARF
	missing missingSplits
}

// missingSplits are the units whose split DWARF was not found.
type missingSplits struct {
	units map[missingUnit]bool
	seed  maphash.Seed
	name  string // the first unit's file
	why   error
}

// missingUnit identifies a unit by its ID and a hash of its file's name: old units may have no ID.
type missingUnit struct{ id, name uint64 }

// find returns the files that may have the rest of a unit, the most likely one first. The caller
// stops at the file that has it. The files before that one are of another build.
func (s *splitFiles) find(name, dir string, id uint64) iter.Seq[*splitFile] {
	return func(yield func(*splitFile) bool) {
		s.packagesRead.Do(s.openPackages)
		err := fs.ErrNotExist
		for _, p := range s.packages {
			if f := p.find(id); f != nil && !yield(f) {
				return
			}
			err = fmt.Errorf("%s has no unit of ID %#x: %w", p.path, id, ErrMismatch)
		}
		for _, path := range s.paths(name, dir) {
			f, failed := s.open(path)
			switch {
			case f != nil:
				if !yield(f) {
					return
				}
				err = fmt.Errorf("%s has no unit of ID %#x: %w", path, id, ErrMismatch)
			case errors.As(failed, new(*regular.NotAllowedError)):
				err = failed
			case !errors.Is(failed, fs.ErrNotExist):
				err = fmt.Errorf("%s: %w", path, failed)
			}
		}
		if s.kept.short.Load() {
			return // the rest may be there, but there was no room to read it
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.missing.units) == 0 {
			s.missing.name, s.missing.why = name, err
			s.missing.units, s.missing.seed = make(map[missingUnit]bool), maphash.MakeSeed()
		}
		s.missing.units[missingUnit{id, maphash.String(s.missing.seed, name)}] = true
	}
}

// paths returns where a .dwo file may be: at its name, which is relative to the compilation
// directory; below the directories of debug files; beside the program.
func (s *splitFiles) paths(name, dir string) (list []regular.At) {
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(dir, name)
	}
	for _, root := range s.mod.roots() {
		if filepath.IsAbs(path) {
			list = append(list, regular.At{Root: root, Path: path})
		}
		for _, d := range s.mod.s.opts.DebugDirs {
			list = append(list, regular.At{Root: root, Path: filepath.Join(d, name)})
		}
		if beside := filepath.Dir(s.mod.path()); filepath.IsAbs(beside) {
			list = append(list, regular.At{Root: root, Path: filepath.Join(beside, filepath.Base(name))})
		}
	}
	if own := placeOf(s.mod.image); own.Path != "" {
		list = append(list, own.With(filepath.Join(filepath.Dir(own.Path), filepath.Base(name))))
	}
	return list
}

// open opens a .dwo file.
func (s *splitFiles) open(at regular.At) (f *splitFile, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.opened[at]; ok {
		if f == nil {
			err = fs.ErrNotExist
		}
		return f, err
	}
	if s.opened == nil {
		s.opened = make(map[regular.At]*splitFile)
	}
	im, err := s.mod.openOther(at)
	if err == nil {
		f, err = openSplitFile(im, s.kept)
	}
	s.opened[at] = f
	return f, err
}

// forget drops what was read of the files.
func (s *splitFiles) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packagesRead, s.packages, s.opened = sync.Once{}, nil, nil
}

// openOther opens a file with another part of the module's DWARF, once.
func (mod *elfModule) openOther(at regular.At) (*elf.Image, error) {
	mod.othersMu.Lock()
	defer mod.othersMu.Unlock()
	if im := mod.others[at]; im != nil {
		return im, nil
	}
	im, file, err := elf.OpenFileBy(mod.openerOf(at), at.Root, at.Path)
	if err != nil {
		return nil, err
	}
	if im.Machine != mod.image.Machine || im.Class != mod.image.Class || im.Order != mod.image.Order {
		file.Close()
		return nil, fmt.Errorf("machine is %v, not %v: %w", im.Machine, mod.image.Machine, ErrMismatch)
	}
	mod.s.keep(file)
	im.Join(mod.image.Budget())
	if mod.others == nil {
		mod.others = make(map[regular.At]*elf.Image)
	}
	mod.others[at] = im
	return im, nil
}

// openSplitFile opens the sections of split DWARF. Their memory belongs to kept.
func openSplitFile(im *elf.Image, kept *sharedInfo) (*splitFile, error) {
	f := &splitFile{}
	const together = 8 << 10 // as in openDWARF
	f.room = roomFor(im, kept)
	for _, s := range []struct {
		section **section
		name    string
		ahead   uint64
	}{
		{&f.info, "info.dwo", 0}, {&f.abbrev, "abbrev.dwo", together}, {&f.str, "str.dwo", 0},
		{&f.strOffsets, "str_offsets.dwo", together}, {&f.rangeLists, "rnglists.dwo", together},
		{&f.locLists, "loclists.dwo", together}, {&f.oldLocs, "loc.dwo", together},
	} {
		var err error
		if *s.section, err = openSection(im, s.name, s.ahead); err != nil {
			return nil, err
		}
		if x := *s.section; x != nil {
			x.room = f.room
		}
	}
	if f.info == nil {
		return nil, fmt.Errorf("it has no split DWARF: %w", elf.ErrNoSection)
	}
	f.left = new(atomic.Int64)
	f.left.Store(int64(2*f.info.len() + 1<<10))
	return f, nil
}

// warning returns an error that names the units whose split DWARF was not found; nil if there are
// none.
func (s *splitFiles) warning() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.missing
	if len(m.units) == 0 {
		return nil
	}
	more := ""
	if len(m.units) > 1 {
		more = fmt.Sprintf(" and %d more", len(m.units)-1)
	}
	why := m.why
	if errors.Is(why, fs.ErrNotExist) {
		why = errors.New("no such file")
	}
	return fmt.Errorf("%s: split debug information %s%s: %w: functions are named by symbols, without inlined calls; put the .dwo files of this build there, or %s.dwp beside the program",
		s.mod.m.Path, m.name, more, why, filepath.Base(s.mod.path()))
}
