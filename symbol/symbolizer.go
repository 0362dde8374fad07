package symbol

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/target"
)

// Location is one place in the source that an address belongs to.
type Location struct {
	Module   *target.Module // nil if nothing is mapped at the address
	Function string         // demangled, as GDB prints it; "" if not known
	Start    uint64         // run-time address where the function's contiguous code that holds the address begins; 0 if not known
	Offset   uint64         // bytes from Start to the address
	Entry    uint64         // run-time address where an inlined call's or a function's code is entered, by DW_AT_entry_pc where there is one: the same for all its parts; 0 where neither debug information nor Go's function table says it
	File     string         // as the compiler recorded it; "" if not known
	Line     int            // from 1; 0 if not known
	Inline   bool           // the code was inlined into the next Location's function
	Args     Args
}

// Args says whether a function takes arguments.
type Args uint8

const (
	ArgsUnknown Args = iota // there is no debug information that says
	ArgsNone
	ArgsSome
)

// Options says where symbols come from. Its zero value is the usual choice.
type Options struct {
	// DebugDirs are the directories of separate debug files; nil means
	// /usr/lib/debug.
	DebugDirs []string

	// Root gives the directory below which a module's paths are looked up before
	// the host's own (/proc/PID/root for a process in a container, a sysroot for a
	// core file). nil, or "", means the host's only.
	Root func(m *target.Module) string

	// SymbolsOnly leaves DWARF unread: no files, lines or inlined calls, nor those of Go's
	// function table.
	SymbolsOnly bool
}

// Symbolizer finds the [Location]s of addresses. What it has read of a module
// lives as long as the module. It is safe for concurrent use.
type Symbolizer struct {
	opts Options

	together sync.RWMutex // who reads DWARF beside others has it for reading

	mu    sync.Mutex
	files []io.Closer // separate debug files
}

// New makes a symbolizer. Close it to close the debug files that it opens.
func New(opts Options) *Symbolizer {
	if opts.DebugDirs == nil {
		opts.DebugDirs = []string{"/usr/lib/debug"}
	}
	return &Symbolizer{opts: opts}
}

// DebugFile returns the separate debug file of a module that lacks names or lines; nil if
// there is none, or none is needed. It must not be used after Close.
func (s *Symbolizer) DebugFile(m *target.Module) *elfimage.Image {
	if m == nil {
		return nil
	}
	return s.module(m).debug
}

// Close closes the debug files that were opened. The symbolizer must not be
// used any more.
func (s *Symbolizer) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	s.files = nil
	return errors.Join(errs...)
}

// Locate returns what is at pc, the address in block of a frame: the inlined
// calls, innermost first, then the function that contains the code. There is
// always at least one Location; where nothing is known of the address it has
// the module only. Names are [Short].
func (s *Symbolizer) Locate(modules *target.Modules, pc uint64) []Location {
	m := modules.Find(pc)
	if m == nil {
		return []Location{{}}
	}
	mod := s.module(m)
	if mod.image == nil {
		return []Location{{Module: m}}
	}
	chain := mod.locate(pc)
	for i := range chain {
		chain[i].Function, chain[i].File = Short(chain[i].Function), Short(chain[i].File)
	}
	return chain
}

// Warnings returns what went wrong while symbols of m were read: debug files
// that do not match, sections that cannot be decoded; the first few of them.
func (s *Symbolizer) Warnings(m *target.Module) []error {
	if m == nil {
		return nil
	}
	mod := s.module(m)
	var x *sharedInfo
	if mod.image != nil {
		x = mod.dwarf()
	}
	mod.mu.Lock()
	defer mod.mu.Unlock()
	list := append([]error(nil), mod.warnings...)
	if x != nil && x.mod == mod {
		for _, err := range x.warnings {
			list = append(list, fmt.Errorf("%s: %w", m.Path, err))
		}
		list = list[:min(len(list), maxWarnings)]
	}
	if err := mod.splits.warning(); err != nil {
		list = append(list, err)
	}
	return list
}

func (s *Symbolizer) module(m *target.Module) *module {
	mod := m.Memo(s, func() any { return newModule(s, m) }).(*module)
	mod.opened.Do(mod.open)
	return mod
}

func (s *Symbolizer) keep(f io.Closer) {
	s.mu.Lock()
	s.files = append(s.files, f)
	s.mu.Unlock()
}

// maxWarnings bounds what is kept of a broken file's complaints.
const maxWarnings = 32

// warn records what went wrong with a module.
func (mod *module) warn(format string, args ...any) {
	mod.mu.Lock()
	defer mod.mu.Unlock()
	err := fmt.Errorf(format, args...)
	known := slices.ContainsFunc(mod.warnings, func(w error) bool { return w.Error() == err.Error() }) // what is read again warns again
	if !known && len(mod.warnings) < maxWarnings {
		mod.warnings = append(mod.warnings, err)
	}
}
