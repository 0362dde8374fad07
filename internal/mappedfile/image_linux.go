package mappedfile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Images are the images of files that processes have mapped. A file that several of them have
// mapped is read once. Its zero value is empty. One goroutine may use it at a time.
type Images struct {
	// Most is how many files are open at most, if it is not 0: a file that is written to again and
	// again counts each time. Further ones are refused with [ErrMany].
	Most   int
	shared elf.Cache
	files  []*os.File // that the images read from
}

// ErrMany says that as many files are open as may be.
var ErrMany = errors.New("too many files are open")

// Close closes the files. The images must not be used any more.
func (s *Images) Close() {
	for _, f := range s.files {
		f.Close()
	}
	s.files = nil
}

// Open returns the image of a mapped file. If nothing leads to the file, the image is read from the
// process's memory. said is what the user should know if the image is used: that another file has
// the path, or why the file could not be opened; "" for nothing.
func (s *Images) Open(p *Process, m *procmaps.File) (im *elf.Image, said string, err error) {
	found := p.Open(m)
	if found.Other != nil {
		defer found.Other.Close()
	}
	var failed error
	instead := "unwinding from memory"
	if found.File != nil {
		im, failed = s.image(found.File)
		instead = "using the mapped file, which is still there"
	} else {
		im, failed = p.inMemory(m)
	}
	switch {
	case errors.Is(failed, elf.ErrNotELF):
		return nil, "", failed
	case failed != nil:
		instead = fmt.Sprintf("no symbols and no unwind tables of it (%v)", failed)
	}
	switch {
	case found.Other != nil:
		said = fmt.Sprintf("%s: the file on disk is not what is mapped (%s): %s", m.Path, p.difference(found.Other, m), instead)
	case found.File != nil && failed != nil:
		said = fmt.Sprintf("%s: %s", m.Path, instead)
	case found.File != nil:
	case m.Deleted || errors.Is(found.Err, unix.ENOENT) || errors.Is(found.Err, unix.ESRCH):
		said = fmt.Sprintf("%s: the file was deleted: %s", m.Path, instead)
	default:
		said = fmt.Sprintf("%s: cannot be opened (%v): %s", m.Path, withoutPath(found.Err), instead)
	}
	if failed != nil {
		return nil, said, fmt.Errorf("%s: %w", m.Path, failed)
	}
	return im, said, nil
}

// image opens the image of a file, and keeps the file open while it is needed.
func (s *Images) image(file *os.File) (*elf.Image, error) {
	known, err := elffile.Know(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	if s.Most > 0 && len(s.files) >= s.Most && !s.shared.Has(known, known.Size()) {
		file.Close()
		return nil, ErrMany
	}
	im, again, err := s.shared.Open(known, known.Size())
	if err != nil || again {
		file.Close()
		return im, err
	}
	s.files = append(s.files, file)
	return im, nil
}

// inMemory opens the image in the process's memory.
func (p *Process) inMemory(m *procmaps.File) (*elf.Image, error) {
	first := m.Mappings[0]
	if first.Offset != 0 { // dynamic linkers map the beginning of a file; run times map files for code of their own otherwise
		return nil, fmt.Errorf("the beginning of the file is not mapped: %w", elf.ErrNotELF)
	}
	memory := p.Memory
	if memory == nil {
		memory = target.NoMemory
	}
	im, err := elf.OpenMapped(memory, first.Lo, m.Mappings[len(m.Mappings)-1].Hi-first.Lo)
	if err != nil {
		return nil, fmt.Errorf("image in memory: %w", err)
	}
	return im, nil
}
