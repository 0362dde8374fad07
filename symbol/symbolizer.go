package symbol

import (
	"fmt"
	"os"
	"path"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Location is one place in the source that an address belongs to.
type Location struct {
	Module   *target.Module // nil if nothing is mapped at the address
	Function string         // demangled, as GDB prints it; "" if not known
	NameFrom string         // of which table Function is made: ".eh_frame", ".debug_frame", ".sframe", ".ARM.exidx", ".pdata", "STACK CFI"; "" if it is the function's own name
	Start    uint64         // run-time address of the first byte of the contiguous part of the function that holds the address; 0 if not known
	End      uint64         // run-time address behind the last byte of that part; 0 if not known
	Offset   uint64         // bytes from Start to the address
	Entry    uint64         // run-time address at which the function or inlined call is entered (DW_AT_entry_pc), the same in all its parts; 0 if neither debug information nor Go's function table tells it
	File     string         // as the compiler recorded it; "" if not known
	Dir      string         // the folder from which a relative File counts (DW_AT_comp_dir); "" if File is absolute, or it is not known
	Line     int            // from 1; 0 if not known
	Inline   bool           // the code was inlined into the next Location's function
	Args     Args
}

// Args says whether a function takes arguments.
type Args uint8

const (
	ArgsUnknown Args = iota // no debug information tells
	ArgsNone
	ArgsSome
)

// Options says where symbols come from. Its zero value is the usual choice.
type Options struct {
	// DebugDirs are the directories that hold separate debug files: by build ID below .build-id, by
	// the paths of the files that they belong to, and by their own names. nil means /usr/lib/debug.
	DebugDirs []string

	// ByBuildID returns the path, on this machine, of the debug file with a build ID (hexadecimal)
	// that is not in the usual places; "" if there is none. A thread may be held meanwhile, so it
	// must not fetch the file. It may be called by several goroutines at once. nil means that there
	// are no more places.
	ByBuildID func(buildID string) (path string)

	// Root returns the directory below which the paths of m are looked up first, before the host's:
	// /proc/PID/root for a process in a container, a sysroot for a core file. Where Root is nil or
	// returns "", only the host's paths are looked up.
	Root func(m *target.Module) string

	// Open opens a file that m or its debug information names, by its path below root, "" or what
	// Root returns. It may refuse what the process's user may not read. Files in DebugDirs on this
	// machine, and ByBuildID's, are not asked for by Open: the caller has named them. nil opens all
	// with this program's rights.
	Open func(m *target.Module, root, path string) (*os.File, error)

	// SymbolsOnly leaves DWARF unread. Locations then have no files, lines or inlined calls, not
	// even from Go's function table. It does not concern Sources.
	SymbolsOnly bool

	// Entries says that entries are read, too ([Symbolizer.Scopes], [Symbolizer.Entry]): then what
	// is inflated of a compressed section is kept, for entries refer to each other back and forth.
	Entries bool

	// Inflated keeps what compressed sections of files of this machine were inflated to; nil for
	// nothing. The sections that it lacks are kept by Close, which may take as long as the first
	// look-up did.
	Inflated Inflated

	// Sources are asked in this order. A source is asked only if the module's ELF file, its debug
	// files and the sources before it do not tell both the function and the line of an address. A
	// function with a line counts more than one without. Close leaves the sources open.
	Sources []Source
}

// Symbolizer finds the [Location]s of addresses. It keeps the data of a module as
// long as the module lives. It is safe for concurrent use.
type Symbolizer struct {
	elf     elfSource
	sources []Source
}

// New makes a symbolizer. Close it to close the debug files that it opens.
func New(opts Options) *Symbolizer {
	if opts.DebugDirs == nil {
		opts.DebugDirs = []string{"/usr/lib/debug"}
	}
	return &Symbolizer{elf: elfSource{opts: opts}, sources: opts.Sources}
}

// DebugFile returns the separate debug file of m. It returns nil if m has names and lines of its
// own, or if there is no such file. The image must not be used after Close.
func (s *Symbolizer) DebugFile(m *target.Module) *elfimage.Image {
	if m == nil {
		return nil
	}
	return s.tables(m).elf.debug
}

// Lacks returns the build IDs, hexadecimal, of the files that m lacks: its debug file, if it has no
// names or no lines of its own and none was found; else the supplementary file that its DWARF
// shares with others.
func (s *Symbolizer) Lacks(m *target.Module) (buildIDs []string) {
	if m == nil {
		return nil
	}
	return s.tables(m).elf.lacks()
}

// Close closes the debug files that the symbolizer opened. Before, it has [Options.Inflated] keep
// what was inflated; so the files of the modules must still be open. It leaves [Options.Sources] to
// their owner. The symbolizer must not be used any more.
func (s *Symbolizer) Close() error { return s.elf.close() }

// Locate returns what is at pc, the address in block of a frame: the inlined calls, innermost
// first, then the function that contains the code. It always returns at least one Location. If
// nothing else is known about the address, that has only the module. Code that the kernel has
// mapped has its name for a function: "[uprobes]". Names that are too long are cut ([Truncate]).
//
// A function without a symbol has a name that is made of where it begins, if a table tells that:
// "postgres!fn_5d3900" is the function at address 0x5d3900 of the file. [Location.NameFrom] tells
// such names from others.
func (s *Symbolizer) Locate(modules *target.Modules, pc uint64) []Location {
	m := modules.Find(pc)
	if m == nil {
		return []Location{{Function: modules.KernelName(pc)}}
	}
	chain := s.tables(m).locate(pc)
	if len(chain) == 0 {
		return []Location{{Module: m}}
	}
	for i := range chain {
		l := &chain[i]
		l.Module, l.Function, l.File = m, Truncate(l.Function), Truncate(l.File)
		if path.IsAbs(l.File) || l.File == "" || len(l.Dir) > maxName {
			l.Dir = ""
		}
	}
	return chain
}

// Warnings returns the first few errors from reading the symbols of m: debug files
// that do not match, sections that cannot be decoded.
func (s *Symbolizer) Warnings(m *target.Module) []error {
	if m == nil {
		return nil
	}
	t := s.tables(m)
	list := t.elf.Warnings()
	others := t.warnings
	for _, table := range t.others {
		others = append(others, table.Warnings()...)
	}
	for _, err := range others[:min(len(others), maxWarnings)] {
		list = append(list, fmt.Errorf("%s: %w", m.Path, err))
	}
	return list
}

func (s *Symbolizer) tables(m *target.Module) *tables {
	t := m.Memo(s, func() any { return new(tables) }).(*tables)
	t.opened.Do(func() { t.open(s, m) })
	return t
}

// maxWarnings bounds how many warnings of a broken file are kept.
const maxWarnings = 32
