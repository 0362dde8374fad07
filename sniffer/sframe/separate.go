package sframe

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/pages"
	"github.com/sfwalk/sfwalk/format/sframe/separate"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/target"
)

// ErrMismatch says that a separate SFrame file was made for another build of the
// module. Errors of [Separate.Warnings] wrap it.
var ErrMismatch = errors.New("SFrame file does not belong to the module")

// Separate finds SFrame sections apart from the modules that they describe, by
// build ID. It is safe for concurrent use.
type Separate struct {
	// Dirs are folders of files that `sfwalk sframe gen` has written, in the order
	// in which they are searched: DIR/.build-id/ab/cdef….sframe, DIR/ab/cdef….sframe.
	Dirs []string

	mu       sync.Mutex
	warnings []error
}

// Warnings returns the errors so far of files that were found but cannot be used.
func (s *Separate) Warnings() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error(nil), s.warnings...)
}

func (s *Separate) warn(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, err)
}

type separateKey struct{ from *Separate }

// sectionOf returns the section of a module that has none of its own.
func (s *Separate) sectionOf(m *target.Module, a *arch.Arch) *Section {
	return m.Memo(separateKey{s}, func() any { return s.search(m, a) }).(*Section)
}

func (s *Separate) search(m *target.Module, a *arch.Arch) *Section {
	im, bias, err := m.Image()
	if err != nil {
		return &Section{why: noImage}
	}
	for _, dir := range s.Dirs {
		for _, path := range separate.Paths(dir, im.BuildID) {
			section, err := openSeparate(path, im.BuildID, bias, a)
			switch {
			case err == nil:
				return section
			case !errors.Is(err, fs.ErrNotExist):
				s.warn(fmt.Errorf("%s: %w", m.Path, err))
			}
		}
	}
	return &Section{why: noSection}
}

// openSeparate opens the section in a file, for a module with the build ID and
// the load bias.
func openSeparate(path, buildID string, bias uint64, a *arch.Arch) (*Section, error) {
	im, file, err := elf.OpenFile(path)
	if err != nil {
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	if im.BuildID != buildID {
		return nil, fmt.Errorf("%s: %w: its build ID is %q, not %q", path, ErrMismatch, im.BuildID, buildID)
	}
	data, addr, err := im.SFrame() // all of it: the file is closed
	section := newSection(unwindtables.OpenSFrame(pages.Of(data), addr, err, a))
	if section.Section == nil {
		return nil, fmt.Errorf("%s: %s", path, section.why)
	}
	section.Bias = bias
	return section, nil
}
