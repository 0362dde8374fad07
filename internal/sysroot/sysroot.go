package sysroot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
)

// Options say where a target's files are.
type Options struct {
	Arch *arch.Arch // of the target: files of another are not its
	// Exe is the program's file on this machine; "" to find it like any other.
	Exe string
	// ExePath is the program's path as the target has it, for which Exe stands.
	ExePath string
	// Fits says why an image of the target's architecture cannot be the program; nil if
	// the target tells nothing of it.
	Fits func(*elf.Image) error
	// Root is the folder below which the target's paths are; "" for this machine's
	// own root.
	Root string
	// Beside are folders with files that may not be at their paths here: the folder of a core file,
	// the folder of its program. A file is looked for there by its name, and where its path is
	// relative by that.
	Beside []string
	// Word says with whose rights files of this machine are opened that the target has named.
	Word regular.Word
	// Fetch opens a file through the target, where it is not found here; nil if
	// the target cannot.
	Fetch func(path string) (r io.ReaderAt, size int64, err error)
}

// Files opens the files of one target. It is safe for concurrent use.
type Files struct {
	opts Options
	mem  target.Memory

	shared elf.Cache

	mu       sync.Mutex
	closed   bool
	opened   []io.Closer
	warnings []warning
	warned   int // bytes of the texts of warnings
}

// maxWarned bounds the text of all warnings, bytes: thousands of files may have one long name.
const maxWarned = 4 << 20

// warning is what the user should know.
type warning struct {
	text  string
	about *target.Module // of no interest unless somebody has used it; nil for what always is
}

// New returns the files of a target with that memory, which must not itself be
// read from these files; nil where there is none.
func New(o Options, mem target.Memory) *Files {
	if mem == nil {
		mem = target.NoMemory
	}
	return &Files{opts: o, mem: mem}
}

// ErrMismatch says that a file is not the one that the target has mapped.
var ErrMismatch = errors.New("the file is not what is mapped")

var errClosed = errors.New("target is closed")

// Module describes a file that is mapped in the target, at least one mapping,
// ascending. It is opened when somebody first asks for its image.
func (f *Files) Module(path string, mappings []target.Mapping) *target.Module {
	return f.module(path, mappings, false)
}

// Deleted is Module for a file that was no longer at its path. What is there now is
// believed where memory bears it out.
func (f *Files) Deleted(path string, mappings []target.Mapping) *target.Module {
	return f.module(path, mappings, true)
}

func (f *Files) module(path string, mappings []target.Mapping, deleted bool) *target.Module {
	var m *target.Module
	m = target.NewModule(path, mappings, func() (*elf.Image, error) { return f.image(m, deleted) })
	return m
}

// Warnings returns what the user should know about the files that were used so far:
// one sentence each.
func (f *Files) Warnings() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.warnings {
		if w.about == nil || w.about.ImageUsed() {
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
	if f.warned > maxWarned {
		return // the last warning says so
	}
	text := strings.ToValidUTF8(fmt.Sprintf(format, args...), "?")
	if f.warned += len(text); f.warned > maxWarned {
		text, about = fmt.Sprintf("the warnings of files have more than %d MiB of text: the others are left out", maxWarned>>20), nil
	}
	f.warnings = append(f.warnings, warning{text, about})
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

// image opens the file that is mapped.
func (f *Files) image(m *target.Module, deleted bool) (*elf.Image, error) {
	path, mappings := m.Path, m.Mappings
	if len(mappings) == 0 {
		return nil, fmt.Errorf("%s: it is not mapped", path)
	}
	if path == "[vdso]" {
		// Its section headers are mapped behind its segments, and so may be behind what is known
		// to be mapped of it: by the segments alone, where the target has no list of mappings.
		im, err := elf.OpenMapped(f.mem, mappings[0].Lo, maxImage)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return im, nil
	}
	im, why, last := f.search(m, path, deleted, func(*elf.Image) []target.Mapping { return mappings })
	if im != nil {
		return im, nil
	}
	reason := strings.Join(why, "; ")
	im, err := f.mapped(mappings)
	switch {
	case err == nil:
		f.warn(m, "%s: %s: unwinding from memory", path, reason)
		return im, nil
	case errors.Is(err, elf.ErrNotELF) && !errors.Is(last, ErrMismatch):
		return nil, fmt.Errorf("%s: %w", path, err)
	case errors.Is(last, elf.ErrNotELF) && !f.isExe(path): // memory does not show an ELF file either
		return nil, fmt.Errorf("%s: %w", path, last)
	}
	f.warn(m, "%s: %s: no symbols and no unwind tables of it", path, reason)
	return nil, fmt.Errorf("%s: %w", path, last)
}

// bare removes the path from an error, because the message has it already.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// openRemote reads the file through the target.
func (f *Files) openRemote(path string) (*elf.Image, string, error) {
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
	im, _, err := f.shared.Open(r, size)
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

// usable returns an error after Close.
func (f *Files) usable() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	return nil
}

// mapped opens the image that is in memory.
func (f *Files) mapped(mappings []target.Mapping) (*elf.Image, error) {
	first := mappings[0]
	if first.Offset != 0 { // as a dynamic linker maps it
		return nil, fmt.Errorf("the beginning of the file is not mapped: %w", elf.ErrNotELF)
	}
	return elf.OpenMapped(f.mem, first.Lo, mappings[len(mappings)-1].Hi-first.Lo)
}
