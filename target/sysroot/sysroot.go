package sysroot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Options say where a target's files are.
type Options struct {
	Arch *arch.Arch // of the target: files of another are not its
	// Exe is the program's file on this machine; "" to find it like any other.
	Exe string
	// ExePath is the program's path as the target has it, for which Exe stands.
	ExePath string
	// Root is the folder below which the target's paths are; "" for this machine's
	// own root.
	Root string
	// Fetch opens a file through the target, where it is not found here; nil if
	// the target cannot.
	Fetch func(path string) (r io.ReaderAt, size int64, err error)
}

// Files opens the files of one target. It is safe for concurrent use.
type Files struct {
	opts Options
	mem  target.Memory

	mu       sync.Mutex
	closed   bool
	opened   []io.Closer
	warnings []warning
}

// warning is what the user should know.
type warning struct {
	text  string
	about *target.Module // of no interest unless somebody has used it; nil for what always is
}

// New returns the files of a target with that memory, which must not itself be
// read from these files.
func New(o Options, mem target.Memory) *Files { return &Files{opts: o, mem: mem} }

// ErrMismatch says that a file is not the one that the target has mapped.
var ErrMismatch = errors.New("the file is not what is mapped")

var errClosed = errors.New("target is closed")

// Module describes a file that is mapped in the target, at least one mapping,
// ascending. It is opened when somebody first asks for its image.
func (f *Files) Module(path string, mappings []target.Mapping) *target.Module {
	var m *target.Module
	m = target.NewModule(path, mappings, func() (*target.Image, error) { return f.image(m) })
	return m
}

// Warnings returns what the user should know about the files that were used so far:
// one sentence each.
func (f *Files) Warnings() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.warnings {
		if w.about == nil || w.about.Opened() {
			list = append(list, w.text)
		}
	}
	return list
}

// Warn adds a warning of the target's own.
func (f *Files) Warn(format string, args ...any) { f.warn(nil, format, args...) }

func (f *Files) warn(about *target.Module, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warnings = append(f.warnings, warning{strings.ToValidUTF8(fmt.Sprintf(format, args...), "?"), about})
}

// Close closes what was opened. Images of the files are of no use afterwards.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, c := range f.opened {
		c.Close()
	}
	f.opened = nil
	return nil
}

// Local returns the path on this machine that stands for a path of the target.
func (f *Files) Local(path string) string {
	switch {
	case f.opts.Exe != "" && path == f.opts.ExePath:
		return f.opts.Exe
	case f.opts.Root != "":
		return filepath.Join(f.opts.Root, filepath.FromSlash(path))
	}
	return path
}

// image opens the file that is mapped.
func (f *Files) image(m *target.Module) (*target.Image, error) {
	path, mappings := m.Path, m.Mappings
	if path == "[vdso]" {
		im, err := target.MemoryImage(f.mem, mappings[0].Lo, mappings[len(mappings)-1].Hi-mappings[0].Lo)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return im, nil
	}
	var why []string
	var last error
	for _, open := range f.ways(path) {
		im, name, err := open(path)
		if err == nil {
			if err = f.Check(im, mappings); err == nil {
				return im, nil
			}
			why = append(why, fmt.Sprintf("%s: %v", name, err))
		} else {
			why = append(why, fmt.Sprintf("%s cannot be opened (%v)", name, bare(err)))
		}
		last = err
	}
	reason := strings.Join(why, "; ")
	im, err := f.mapped(mappings)
	switch {
	case err == nil:
		f.warn(m, "%s: %s: unwinding from memory", path, reason)
		return im, nil
	case errors.Is(err, target.ErrNotELF) && !errors.Is(last, ErrMismatch):
		return nil, fmt.Errorf("%s: %w", path, err)
	case errors.Is(last, target.ErrNotELF) && f.Local(path) != f.opts.Exe: // and memory does not say that it was one
		return nil, fmt.Errorf("%s: %w", path, last)
	}
	f.warn(m, "%s: %s: no symbols and no unwind tables of it", path, reason)
	return nil, fmt.Errorf("%s: %w", path, last)
}

// bare takes the path off an error that the message names already.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Open opens the target's file of that path, whether or not it is the mapped
// one. It returns the name under which it was found.
func (f *Files) Open(path string) (im *target.Image, name string, err error) {
	for _, open := range f.ways(path) {
		im, at, failed := open(path)
		if failed == nil {
			return im, at, nil
		}
		if err == nil {
			name, err = at, failed // what this machine says is told first
		}
	}
	return nil, name, err
}

// ways returns how a file can be opened, the best way first.
func (f *Files) ways(path string) []func(string) (*target.Image, string, error) {
	list := []func(string) (*target.Image, string, error){f.openLocal}
	if f.opts.Fetch != nil && f.Local(path) != f.opts.Exe {
		list = append(list, f.openRemote)
	}
	return list
}

func (f *Files) openLocal(path string) (*target.Image, string, error) {
	name := f.Local(path)
	if !filepath.IsAbs(name) && name != f.opts.Exe {
		return nil, name, errors.New("its folder is not known")
	}
	im, file, err := target.OpenFile(name)
	if err != nil {
		return nil, name, err
	}
	return im, name, f.keep(file)
}

// openRemote reads the file through the target.
func (f *Files) openRemote(path string) (*target.Image, string, error) {
	name := "the target's " + path
	r, size, err := f.opts.Fetch(path)
	if err != nil {
		return nil, name, err
	}
	if c, ok := r.(io.Closer); ok {
		if err := f.keep(c); err != nil {
			return nil, name, err
		}
	}
	im, err := target.OpenImage(r, size)
	return im, name, err
}

func (f *Files) keep(c io.Closer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		c.Close()
		return errClosed
	}
	f.opened = append(f.opened, c)
	return nil
}

// mapped opens the image that is in memory.
func (f *Files) mapped(mappings []target.Mapping) (*target.Image, error) {
	first := mappings[0]
	if first.Offset != 0 { // as a dynamic linker maps it
		return nil, fmt.Errorf("the beginning of the file is not mapped: %w", target.ErrNotELF)
	}
	return target.MemoryImage(f.mem, first.Lo, mappings[len(mappings)-1].Hi-first.Lo)
}
