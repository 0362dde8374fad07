package symbol

import (
	"errors"
	"io"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// elfSource is the [Source] for modules' ELF files and their debug files.
type elfSource struct {
	opts Options

	together sync.RWMutex // read-locked by whoever reads DWARF beside others

	inflated inflated // sections for Options.Inflated to keep

	missing missing // folders of debug files

	mu    sync.Mutex
	files []io.Closer // separate debug files
}

// open opens the file of a module, and its debug file if that is needed.
func (s *elfSource) open(m *target.Module) *elfModule {
	mod := &elfModule{s: s, m: m}
	mod.splits.mod = mod
	mod.open()
	return mod
}

// keep closes a file when the source is closed.
func (s *elfSource) keep(f io.Closer) {
	s.mu.Lock()
	s.files = append(s.files, f)
	s.mu.Unlock()
}

func (s *elfSource) close() error {
	if s.opts.Inflated != nil {
		s.inflated.keep(s.opts.Inflated)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	s.files = nil
	return errors.Join(errs...)
}
