package sysroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
)

// way is one place where a file of the target may be.
type way struct {
	open func() (im *elf.Image, name string, err error)
	// chance says that another file may well be there: the file is used only if memory confirms it,
	// and no message says that it is missing.
	chance bool
}

var (
	errFolder = errors.New("its folder is not known")
	// errChance says that memory does not tell whether a file is the one that is mapped.
	errChance = errors.New("nothing in memory says that it is the file")
)

// isExe reports whether Options.Exe stands for a path.
func (f *Files) isExe(path string) bool { return f.opts.Exe != "" && path == f.opts.ExePath }

// CheckExe warns where Options.Exe stands for none of the modules that there are.
func (f *Files) CheckExe(modules []*target.Module) {
	if f.opts.Exe != "" && !slices.ContainsFunc(modules, func(m *target.Module) bool { return f.isExe(m.Path) }) {
		f.Warn("%s is not used: which of the mapped files is the program is not known", f.opts.Exe)
	}
}

// ways returns where a file may be, the best way first.
func (f *Files) ways(file string, deleted bool) (list []way) {
	add := func(by elf.Opener, root, name string, chance bool) {
		list = append(list, way{func() (*elf.Image, string, error) { return f.openLocal(by, root, name) }, chance})
	}
	exe := f.isExe(file)
	if exe {
		add(nil, "", f.opts.Exe, false)
	}
	relative := !path.IsAbs(file)
	switch local := filepath.FromSlash(file); {
	case f.opts.Root != "":
		add(f.opts.Word.Open, f.opts.Root, local, exe || deleted)
	case filepath.IsAbs(local):
		add(f.opts.Word.Open, "", local, exe || deleted)
	case len(f.opts.Beside) == 0 && !exe:
		list = append(list, way{func() (*elf.Image, string, error) { return nil, file, errFolder }, false})
	}
	if f.opts.Fetch != nil && !exe {
		list = append(list, way{func() (*elf.Image, string, error) { return f.openRemote(file) }, false})
	}
	for _, dir := range f.opts.Beside {
		in := func(_, name string) (*os.File, error) {
			inside, err := filepath.Rel(dir, name)
			if err != nil {
				return nil, err
			}
			return regular.OpenIn(f.opts.Word.Open, dir, inside)
		}
		if local := filepath.FromSlash(path.Clean(file)); relative && filepath.IsLocal(local) {
			add(in, "", filepath.Join(dir, local), exe || deleted)
		}
		if base := path.Base(file); base != path.Clean(file) && base != "/" && base != "." && base != ".." {
			add(in, "", filepath.Join(dir, base), true)
		}
	}
	return list
}

// search opens the file at the target's path if it is the one that the target has mapped; at
// returns where an image is mapped. If there is none, search returns why each place was wrong, and
// the last error. Warnings are about m, which may be nil.
func (f *Files) search(m *target.Module, path string, deleted bool, at func(*elf.Image) []target.Mapping) (im *elf.Image, why []string, last error) {
	for _, w := range f.ways(path, deleted) {
		im, name, err := w.open()
		switch {
		case err == nil:
			told, err := f.check(im, at(im))
			if err == nil && !told && f.opts.Fits != nil && path == f.opts.ExePath {
				if why := f.opts.Fits(im); why != nil {
					err = fmt.Errorf("%w: %w", why, ErrMismatch)
				}
			}
			if err == nil && (told || !w.chance) {
				if len(why) > 0 && f.isExe(path) {
					f.warn(m, "%s: %s: %s is used instead", path, why[0], name)
				}
				return im, nil, nil
			}
			if err == nil {
				err = errChance
			}
			why = append(why, fmt.Sprintf("%s: %v", name, err))
			if !w.chance {
				last = err
			}
		case w.chance && errors.Is(err, fs.ErrNotExist):
		default:
			why = append(why, fmt.Sprintf("%s cannot be opened (%v)", name, bare(err)))
			if !w.chance {
				last = err
			}
		}
	}
	if last == nil {
		last = errors.New("no such file is known")
		if len(why) == 0 {
			why = []string{last.Error()}
		}
	}
	return nil, why, last
}

// Open opens the target's file of that path, whether or not it is the mapped
// one. It returns the name under which it was found.
func (f *Files) Open(path string) (im *elf.Image, name string, err error) {
	for _, w := range f.ways(path, false) {
		im, at, failed := w.open()
		if failed == nil {
			return im, at, nil
		}
		if err == nil {
			name, err = at, failed // this machine's own error is the one to report
		}
	}
	return nil, name, err
}

func (f *Files) openLocal(by elf.Opener, root, name string) (*elf.Image, string, error) {
	at := regular.At{Root: root, Path: name}.String()
	im, file, err := f.shared.OpenFileBy(by, root, name)
	switch {
	case err != nil:
		return nil, at, err
	case file == nil:
		return im, at, f.usable()
	}
	return im, at, f.keep(file)
}
