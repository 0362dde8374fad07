package fromelf

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/breakpad"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/symbol"
)

// Options say what is written. The zero value is what dump_syms -d writes.
type Options struct {
	// Name and OS are written in MODULE. Without them, Name is the library's own name (DT_SONAME)
	// or the file's, and OS is "Linux".
	Name, OS string
	// DebugDirs are folders of separate debug files and of supplementary files: /usr/lib/debug.
	DebugDirs []string
	NoInlines bool // no INLINE and INLINE_ORIGIN
	NoCFI     bool // no STACK CFI
	// Multiple marks a FUNC and a PUBLIC that is one of several of its address with m, and leaves
	// out the others. Without it, all functions of an address are written.
	Multiple bool
	// LikeDumpSyms leaves out what dump_syms leaves out, and errs where it does, to compare the
	// two.
	LikeDumpSyms bool
	// MaxSize bounds the bytes of the symbol file, 0 for 64 MiB and 8 times the file's size: debug
	// information may be compressed, and its line number programs expand once more.
	MaxSize int64
}

// ErrLarge says that the symbol file has more bytes than [Options.MaxSize] allows.
var ErrLarge = errors.New("the symbol file is larger than is allowed")

// Dump is a file whose symbols can be written.
type Dump struct {
	Module breakpad.Module
	CodeID string // the build ID, or the sum of the code

	// How many there were: functions (FUNC), symbols of the linker's (PUBLIC), pieces of code with
	// stack rules (STACK CFI INIT).
	Funcs, Publics, CFI int

	opts    Options
	image   *elfimage.Image
	arch    *arch.Arch      // of image
	debug   *elfimage.Image // separate debug file; nil if there is none, or none is needed
	mini    *elfimage.Image // the file in .gnu_debugdata, which has symbols; nil if there is none, or none is needed
	closers []io.Closer

	load     uint64           // addresses count from here
	segments []breakpad.Range // where the file is loaded
	code     []breakpad.Range // its code: executable sections, or else executable segments

	names, files *table
	demangler    *symbol.Demangler
	splits       splits

	rangesLeft, linesLeft, splitLeft atomic.Int64 // what units may read together: many may refer to the same
	// Bytes of tables of abbreviations, of files of split DWARF, and of their indexes, which units
	// may read together.
	sharedLeft atomic.Int64

	maxRows int   // of a unit's line table
	maxSize int64 // bytes of the symbol file

	mu       sync.Mutex
	warnings []error
	dropped  int // warnings that were not kept
}

// maxWarnings bounds [Dump.Warnings].
const maxWarnings = 64

// Warnings returns what could not be read, at most 64 of them and their number in all. They are
// there when the symbols have been written.
func (d *Dump) Warnings() (list []error, all int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.warnings, len(d.warnings) + d.dropped
}

func (d *Dump) warn(u *unit, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.warnings) >= maxWarnings {
		d.dropped++
		return
	}
	if u != nil {
		err = fmt.Errorf("unit %q at offset %#x of .debug_info: %w", u.name, u.Start, err)
	}
	d.warnings = append(d.warnings, err)
}

// ErrRelocatable says that a file is not linked: it has no addresses yet.
var ErrRelocatable = errors.New("it is relocatable: not linked yet")

// Open opens an ELF file, and the separate debug file if the file has no DWARF and there is one.
// [Dump.Close] closes them.
func Open(path string, opts Options) (*Dump, error) {
	im, file, err := elfimage.OpenFile(path)
	if err != nil {
		return nil, err
	}
	d, err := OpenImage(im, path, opts)
	if err != nil {
		file.Close()
		return nil, err
	}
	d.closers = append(d.closers, file)
	return d, nil
}

// OpenImage is [Open] for a file that is open already, and that the caller closes. path is its
// name.
func OpenImage(im *elfimage.Image, path string, opts Options) (*Dump, error) {
	d := &Dump{opts: opts, image: im}
	if err := d.open(path); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Dump) open(path string) error {
	im := d.image
	if err := im.SectionsError(); err != nil {
		return err
	}
	if im.Type == elf.ET_REL {
		return ErrRelocatable
	}
	if d.arch = arch.ByMachine(im.Machine, nil); d.arch == nil || d.arch.Breakpad.Module == "" {
		return fmt.Errorf("machine %v: not known", im.Machine)
	}
	processor := d.arch.Breakpad.Module
	if im.Class == elf.ELFCLASS32 && d.arch.Breakpad.Module32 != "" {
		processor = d.arch.Breakpad.Module32
	}
	id, code, err := identify(im)
	if err != nil {
		return err
	}
	d.Module = breakpad.Module{OS: d.opts.OS, Arch: processor, ID: id, Name: d.opts.Name}
	d.CodeID = strings.ToUpper(hex.EncodeToString(code))
	if d.Module.OS == "" {
		d.Module.OS = "Linux"
	}
	if d.Module.Name == "" {
		if d.Module.Name = im.SOName(); d.Module.Name == "" {
			d.Module.Name = filepath.Base(path)
		}
	}
	first := true
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD {
			if first {
				d.load, first = p.Vaddr, false
			}
			d.segments = append(d.segments, breakpad.Range{Address: p.Vaddr, Size: p.Memsz})
		}
	}
	d.code = codeOf(im)
	size := im.SizeOnDisk()
	if !hasDWARF(im) {
		if d.debug = d.findDebugFile(); d.debug != nil {
			size += d.debug.SizeOnDisk()
		}
	}
	if !d.opts.LikeDumpSyms && !hasSymbols(im) && !hasSymbols(d.debug) {
		if d.mini, err = symbol.MiniDebugImage(im); err != nil {
			d.warn(nil, err)
		}
	}
	d.demangler = symbol.NewDemangler(1<<20 + 16*size)
	d.names, d.files = newTable(1<<20+16*size, string(plainName)+omitted), newTable(1<<20+4*size, "?")
	d.rangesLeft.Store(1<<16 + size)
	d.linesLeft.Store(1<<20 + 64*size)
	d.maxRows = int(min(1<<20+size/4, math.MaxInt32))
	d.maxSize = cmp.Or(d.opts.MaxSize, 64<<20+8*size)
	d.splitLeft.Store(maxSplit)
	d.sharedLeft.Store(16<<20 + sharedRatio*size)
	return nil
}

// Close closes the files.
func (d *Dump) Close() error {
	var errs []error
	for _, c := range d.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// demangle returns the readable form of a mangled name of C++, with its parameters.
func (d *Dump) demangle(name string) string { return d.demangler.Name(name) }

// holds reports whether an address is in what is loaded of the file.
func (d *Dump) holds(addr uint64) bool {
	for _, x := range d.segments {
		if x.Contains(addr) {
			return true
		}
	}
	return len(d.segments) == 0
}

// sources are the files that have symbols and call frame information.
func (d *Dump) sources() (list []*elfimage.Image) {
	for _, im := range []*elfimage.Image{d.image, d.debug, d.mini} {
		if im != nil {
			list = append(list, im)
		}
	}
	return list
}

// covers reports whether an entry of call frame information is for code of the file. A linker that
// drops a function leaves its entry, which is for no code then: mostly for address 0. dump_syms
// writes such entries if the file is loaded there.
func (d *Dump) covers(addr uint64) bool {
	if !d.holds(addr) {
		return false
	}
	if d.opts.LikeDumpSyms || len(d.code) == 0 {
		return true
	}
	byAddress := func(x breakpad.Range, addr uint64) int { return cmp.Compare(x.Address, addr) }
	i, begins := slices.BinarySearchFunc(d.code, addr, byAddress)
	return begins || i > 0 && d.code[i-1].Contains(addr)
}

// codeOf returns where the file has code.
func codeOf(im *elfimage.Image) (list []breakpad.Range) {
	for _, s := range im.ELF().Sections {
		const flags = elf.SHF_ALLOC | elf.SHF_EXECINSTR
		if s.Flags&flags == flags && s.Size > 0 {
			list = append(list, breakpad.Range{Address: s.Addr, Size: s.Size})
		}
	}
	if len(list) > 0 {
		return joined(list)
	}
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			list = append(list, breakpad.Range{Address: p.Vaddr, Size: p.Memsz})
		}
	}
	return joined(list)
}

// joined joins ranges that follow one another: a file may have a section for each function.
func joined(list []breakpad.Range) []breakpad.Range {
	slices.SortFunc(list, func(a, b breakpad.Range) int { return cmp.Compare(a.Address, b.Address) })
	kept := list[:0]
	for _, x := range list {
		const gap = 64 // bytes of alignment
		if n := len(kept); n > 0 && x.Address-kept[n-1].Address <= kept[n-1].Size+gap {
			kept[n-1].Size = max(kept[n-1].Size, x.Address-kept[n-1].Address+x.Size)
			continue
		}
		kept = append(kept, x)
	}
	return kept
}

func hasSymbols(im *elfimage.Image) bool {
	if im == nil {
		return false
	}
	table, _ := symbolTable(im, ".symtab", elf.SHT_SYMTAB)
	return table != nil
}

// identify returns the debug identifier, and the bytes that it is made of.
func identify(im *elfimage.Image) (id string, code []byte, err error) {
	if code, err := hex.DecodeString(im.BuildID); err == nil && len(code) > 0 {
		return breakpad.BuildIDIdentifier(code), code, nil
	}
	s, file := im.ELF().Section(".text"), im.File()
	if s == nil || s.Type != elf.SHT_PROGBITS || s.Size == 0 || file == nil {
		return "", nil, errors.New("it has neither a build ID nor code: it cannot be identified")
	}
	text := make([]byte, breakpad.TextBytes(s.Size))
	if n, err := file.ReadAt(text, int64(s.Offset)); n < len(text) {
		return "", nil, err
	}
	sum := make([]byte, 16)
	for i, c := range text {
		sum[i%16] ^= c
	}
	return breakpad.TextIdentifier(text), sum, nil
}

func hasDWARF(im *elfimage.Image) bool {
	for _, s := range im.ELF().Sections {
		if (s.Name == ".debug_info" || s.Name == ".zdebug_info") && s.Type != elf.SHT_NOBITS && s.Size > 0 {
			return true
		}
	}
	return false
}
