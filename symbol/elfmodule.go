package symbol

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
)

// elfModule is the [Table] of a module's ELF file and its debug files. Every module has one.
type elfModule struct {
	s *elfSource
	m *target.Module

	image  *elfimage.Image // nil if the module cannot be read
	bias   uint64
	debug  *elfimage.Image // separate debug file, or nil
	splits splitFiles

	refused []os.FileInfo // files that were found and are of no use
	kept    sync.Map      // paths that Options.ByBuildID has told

	namesRead sync.Once
	tables    []*elfimage.Symbols // where to look for a name, in this order
	names     sync.Map            // symbol's address -> demangled name
	made      sync.Map            // run-time address of a function without a name -> the name that is made of it
	namesSize atomic.Int64        // bytes of all names that were asked for, kept or not
	whole     bool                // the tables are a linker's own, and not only what other modules use

	stubsRead sync.Once
	stubs     *stubs // for addresses without a symbol

	unwindingRead sync.Once
	unwinding     unwinding // for addresses without a symbol

	slotsRead sync.Once
	slots     *linkSlots // for addresses of data without a symbol

	infoFound sync.Once
	info      *sharedInfo // nil if there is no DWARF

	othersMu sync.Mutex
	others   map[regular.At]*elfimage.Image // files with other parts of the DWARF

	goRead  sync.Once
	goTable *gopclntab.Table // nil if it is not Go's

	mu       sync.Mutex
	warnings []error
}

// path returns the module's path without the " (deleted)" that the kernel adds for a deleted file.
func (mod *elfModule) path() string { return strings.TrimSuffix(mod.m.Path, " (deleted)") }

func (mod *elfModule) open() {
	im, bias, err := mod.m.Image()
	if err != nil {
		if !errors.Is(err, elfimage.ErrNotELF) { // such files have no symbols
			mod.warn("%w", err)
		}
		return
	}
	mod.image, mod.bias = im, bias
	hasNames := hasSection(im, elf.SHT_SYMTAB, "")
	if hasNames && (mod.s.opts.SymbolsOnly || hasDWARF(im)) {
		return
	}
	d := im.Memo(debugKey{mod.s}, func() any { return new(debugFile) }).(*debugFile)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.image == nil && d.tries < maxDebugTries {
		d.tries++
		d.image = mod.findDebugFile()
	}
	mod.debug = d.image
}

// debugFile is the separate debug file of a file. All modules of the file share it.
type debugFile struct {
	mu    sync.Mutex
	image *elfimage.Image // nil until it is found
	tries int
}

type debugKey struct{ s *elfSource }

// maxDebugTries bounds how many modules of one file look for its debug file. They may have
// different names, and each name may lead to large files, whose checksums are computed.
const maxDebugTries = 4

func hasDWARF(im *elfimage.Image) bool {
	return hasSection(im, elf.SHT_PROGBITS, ".debug_info") || hasSection(im, elf.SHT_PROGBITS, ".zdebug_info")
}

// hasSection reports whether there is a section of type t that is not empty. name is its name; ""
// stands for any.
func hasSection(im *elfimage.Image, t elf.SectionType, name string) bool {
	for _, s := range im.ELF().Sections {
		if s.Type == t && (name == "" || s.Name == name) && s.Size > 0 {
			return true
		}
	}
	return false
}

// Locate implements [Table].
func (mod *elfModule) Locate(pc uint64) []Location {
	if mod.image == nil {
		return nil
	}
	addr := pc - mod.bias
	var at place
	if x := mod.dwarf(); x != nil {
		chain := x.find(addr, &at)
		if len(chain) > 0 {
			for i := range chain {
				chain[i].Start += mod.bias
				chain[i].End += mod.bias
				chain[i].Entry += mod.bias
			}
			if f := &chain[len(chain)-1]; f.Function == "" { // the DWARF has no name, or has it in a file that cannot be read
				if name, start, end, ok := mod.symbol(addr); ok {
					f.Function, f.Start, f.End, f.Offset = name, start+mod.bias, end+mod.bias, addr-start
				}
			}
			return chain
		}
	}
	goFunction, known, found := mod.goFunction(addr)
	if known {
		return mod.goChain(goFunction, addr)
	}
	// Assembly has lines and no functions of its own.
	l := Location{File: at.file, Dir: at.dir, Line: int(at.line)}
	if name, start, end, ok := mod.symbol(addr); ok {
		l.Function, l.Start, l.End, l.Offset = name, start+mod.bias, end+mod.bias, addr-start
	} else if found {
		l.Function, l.Start, l.End, l.Offset = goFunction.Name(), goFunction.Lo+mod.bias, goFunction.Hi+mod.bias, addr-goFunction.Lo
	}
	return []Location{l}
}

// symbol finds the name that symbol tables give to an address of the file.
func (mod *elfModule) symbol(addr uint64) (name string, start, end uint64, ok bool) {
	mod.namesRead.Do(mod.readNames)
	for _, t := range mod.tables {
		s, ok := t.Find(addr)
		if !ok || s.Guessed && mod.behind(s.Addr, addr) {
			continue
		}
		if name, ok := mod.names.Load(s.Addr); ok {
			return name.(string), s.Addr, s.Addr + s.Size, true
		}
		name, length := t.Begin(s, maxName)
		if name = truncate(name, length); length <= maxName {
			name = demangleSymbol(name)
		}
		if mod.namesSize.Add(int64(len(name))) <= maxNames {
			mod.names.Store(s.Addr, name)
		}
		return name, s.Addr, s.Addr + s.Size, true
	}
	mod.stubsRead.Do(mod.readStubs)
	if name, start, end, ok = mod.stubs.find(addr); ok {
		name = demangleSymbol(name)
	}
	return name, start, end, ok
}

// behind reports whether addr is behind the end of a function that begins at an address, and whose
// symbol does not tell its size: another function of the stripped file begins between them.
func (mod *elfModule) behind(start, addr uint64) bool {
	if mod.whole {
		return false
	}
	lo, _, _, ok := mod.begins(addr)
	return ok && lo > start
}

func (mod *elfModule) readStubs() {
	var err error
	if mod.stubs, err = readStubs(mod.image); err != nil {
		mod.warn("%s: read procedure linkage table: %w", mod.m.Path, err)
	}
}

func (mod *elfModule) readNames() {
	add := func(im *elfimage.Image, path string) {
		mod.tables = append(mod.tables, im.Symbols())
		if err := im.SymbolsError(); err != nil {
			mod.warn("%s: %w", path, err)
		}
	}
	mod.whole = mod.debug != nil || hasSection(mod.image, elf.SHT_SYMTAB, "")
	if mod.debug != nil {
		add(mod.debug, cmp.Or(mod.debug.Path, mod.m.Path))
	}
	if !hasSection(mod.image, elf.SHT_SYMTAB, "") && mod.debug == nil {
		if mini, err := MiniDebugImage(mod.image); err != nil {
			mod.warn("%s: %w", mod.m.Path, err)
		} else if mini != nil {
			mod.whole = true
			add(mini, mod.m.Path)
		}
	}
	add(mod.image, mod.m.Path)
}

// dwarf returns the module's DWARF, nil if it has none.
func (mod *elfModule) dwarf() *sharedInfo {
	if mod.s.opts.SymbolsOnly {
		return nil
	}
	mod.infoFound.Do(func() {
		from := mod.image
		if !hasDWARF(from) {
			from = mod.debug
		}
		if from == nil || !hasDWARF(from) {
			return
		}
		// The modules of one file share its DWARF. The first module has the warnings.
		mod.info = mod.image.Memo(infoKey{mod.s, from}, func() any { return newSharedInfo(mod, from) }).(*sharedInfo)
	})
	return mod.info
}

// infoKey is the key of the DWARF that a source has read from a file.
type infoKey struct {
	s    *elfSource
	from *elfimage.Image // the file that has the DWARF
}

// maxKept bounds the debug information of a file that is kept for [Options.Entries], bytes. Of
// larger ones, units that are far from each other are rarely read.
const maxKept = 32 << 20

// openInfo opens the DWARF of x.from for the module's code.
func (mod *elfModule) openInfo(x *sharedInfo) *debugInfo {
	d, err := openDWARF(x.from, mod.image, x)
	if err != nil {
		mod.warn("%s: %w", mod.m.Path, err)
		return nil
	}
	d.warn = x.warn
	if mod.s.opts.Entries && d.info.len() <= maxKept {
		d.info.keep()
	}
	d.splits = mod.splits.find
	d.supplement = sync.OnceValue(func() *debugInfo { return mod.findSupplement(x) })
	return d
}

// Warnings implements [Table].
func (mod *elfModule) Warnings() []error {
	var x *sharedInfo
	if mod.image != nil {
		x = mod.dwarf()
	}
	mod.mu.Lock()
	defer mod.mu.Unlock()
	list := slices.Clone(mod.warnings)
	if x != nil && x.mod == mod {
		for _, err := range x.warnings {
			list = append(list, fmt.Errorf("%s: %w", mod.m.Path, err))
		}
		list = list[:min(len(list), maxWarnings)]
	}
	if err := mod.splits.warning(); err != nil {
		list = append(list, err)
	}
	return list
}

// warn records what went wrong with a module.
func (mod *elfModule) warn(format string, args ...any) {
	mod.mu.Lock()
	defer mod.mu.Unlock()
	err := fmt.Errorf(format, args...)
	known := slices.ContainsFunc(mod.warnings, func(w error) bool { return w.Error() == err.Error() }) // what is read again warns again
	if !known && len(mod.warnings) < maxWarnings {
		mod.warnings = append(mod.warnings, err)
	}
}
