package report

import (
	"os"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/symbol/tables"
	"github.com/sfwalk/sfwalk/target"
)

// SymbolizerOf makes the symbolizer of a target, once the files that it reads have been fetched. A
// target that shares one with others returns that.
func SymbolizerOf(s Source, flags *Flags) *symbol.Symbolizer {
	flags.log.target(s)
	if !flags.Holds {
		flags.log.flush() // a server may let us wait
	}
	if flags.SymbolDirs != "" {
		flags.Fetching.Fetch(s)
	}
	FetchDebugFilesOf(s, flags)
	symbols := sharedBy(s)
	if symbols == nil {
		symbols = ownSymbolizer(s, flags, flags.Values.Any() || flags.Sum.Tasks)
	}
	s.Modules().DebugFile = symbols.DebugFile
	return symbols
}

// ownSymbolizer makes a symbolizer of one target.
func ownSymbolizer(s Source, flags *Flags, entries bool) *symbol.Symbolizer {
	origin := s.From()
	root := func(*target.Module) string { return origin.Root }
	return NewSymbolizer(root, OpenNamed(origin.Opener), flags, entries)
}

// OpenNamed returns what opens the files that targets name, by an opener. nil has the rights of
// this program.
func OpenNamed(open elf.Opener) func(m *target.Module, root, path string) (*os.File, error) {
	if open == nil {
		open = regular.Word{}.Open
	}
	return func(_ *target.Module, root, path string) (*os.File, error) { return open(root, path) }
}

// NewSymbolizer makes the symbolizer of targets. root returns the folder below which a module's
// files are looked for first; open opens the files that a target names; entries says that variables
// are read, too.
func NewSymbolizer(root func(*target.Module) string, open func(m *target.Module, root, path string) (*os.File, error), flags *Flags, entries bool) *symbol.Symbolizer {
	opts := symbol.Options{
		DebugDirs: flags.Debug.DirsInOrder(), ByBuildID: flags.Debug.ByBuildID,
		Root: root, SymbolsOnly: flags.NoLines, Entries: entries,
	}
	if !flags.Debug.Trust {
		opts.Open = open
	}
	if flags.cache != nil {
		opts.Inflated = flags.cache
	}
	if flags.SymbolDirs != "" {
		opts.Sources = []symbol.Source{tables.Breakpad{Dir: flags.SymbolDirs}}
	}
	opts.Sources = append(opts.Sources, tables.PE{})
	return symbol.New(opts)
}
