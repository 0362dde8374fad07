package minidump

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// files are the files that were mapped, as far as they are at hand.
type files struct {
	dump *minidump.File
	arch *arch.Arch
	opts Options
	maps []procmaps.Mapping // the kernel's list; nil if the dump has none
	own  target.Memory      // what the dump has

	regionsAt []minidump.Region // the system's list of the memory, ascending

	mapped     atomic.Int64 // bytes read of images in the dump
	manyMapped sync.Once    // a warning says that they are too large

	private *Files // that no other target shares; nil if there is none

	mu     sync.Mutex
	warned []string
}

// aFile is the inode of a file whose number nobody has noted.
const aFile = 1

func newFiles(dump *minidump.File, a *arch.Arch, o Options) *files {
	f := &files{dump: dump, arch: a, opts: o, regionsAt: byAddress(dump.Regions)}
	if o.Files == nil {
		f.private = new(Files)
		f.opts.Files = f.private
	}
	if len(dump.Linux.Maps) > 0 {
		var err error
		if f.maps, err = procmaps.Parse(dump.Linux.Maps); err != nil {
			f.warn("LinuxMaps: %v", err)
		}
		for i := range f.maps {
			if x := &f.maps[i]; x.Inode == 0 && strings.HasPrefix(x.Path, "/") {
				x.Inode = aFile // the list of a core file has no numbers
			}
		}
	}
	return f
}

func (f *files) warn(format string, args ...any) {
	const most = 256
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := len(f.warned); {
	case n < most:
		f.warned = append(f.warned, fmt.Sprintf(format, args...))
	case n == most:
		f.warned = append(f.warned, fmt.Sprintf("there are more warnings of files than %d: further ones are left out", most))
	}
}

func (f *files) warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.warned)
}

func (f *files) close() error {
	if f.private == nil {
		return nil
	}
	return f.private.Close()
}

// modules makes the list of modules. Of several that begin at one address, or in one mapping of no
// file, the first counts.
func (f *files) modules() *target.Modules {
	var list []*target.Module
	for _, p := range f.parts() {
		m, main := &f.dump.Modules[p.index], p.index == f.dump.Main()
		open := func() (*elfimage.Image, error) { return f.open(m, main) }
		var made *target.Module
		if len(p.mappings) > 0 {
			made = target.NewModule(m.Name, p.mappings, open)
		} else {
			made = target.NewWhole(m.Name, f.regions(m.Base, p.end), open)
		}
		made.Identity = &target.Identity{Base: m.Base, DebugFile: base(m.DebugFile()), DebugID: m.DebugID(f.dump), BuildID: f.buildID(m)}
		if f.dump.System.Known && f.dump.System.OS.IsWindows() {
			made.OpenPE = func() (*pe.Image, error) { return f.openPE(m, main) }
		}
		list = append(list, made)
	}
	return target.NewModules(list, f.code(target.NewModules(list, nil)))
}

// buildID returns the build ID of an ELF file as the dump has it.
func (f *files) buildID(m *minidump.Module) string {
	if m.CodeView.Kind == minidump.ELF {
		return m.CodeID(f.dump)
	}
	return ""
}

// code returns the executable memory that belongs to no module.
func (f *files) code(modules *target.Modules) (list []target.Mapping) {
	for i := range f.maps {
		if x := &f.maps[i]; x.Exec && modules.Find(x.Lo) == nil {
			list = append(list, x.Target())
		}
	}
	for i := range f.dump.Regions {
		if r := &f.dump.Regions[i]; r.Executable() && r.Lo+r.Size > r.Lo && modules.Find(r.Lo) == nil {
			list = append(list, target.Mapping{Lo: r.Lo, Hi: r.Lo + r.Size, Exec: true})
		}
	}
	return list
}

// base returns the last part of a path of any system.
func base(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

var (
	errNoFile   = errors.New("its file is not at hand")
	errOther    = errors.New("another build")
	errNoID     = errors.New("the dump does not identify it, so no file can be taken for it")
	errNotELF   = errors.New("it is no ELF file")
	errMachine  = errors.New("it is for another processor")
	zeroDebugID = strings.Repeat("0", 33)
)

// open opens the file of m if it is the one that was mapped: the dump's identifier tells.
func (f *files) open(m *minidump.Module, main bool) (*elfimage.Image, error) {
	if !f.dump.System.OS.IsLinux() && f.dump.System.OS != minidump.Fuchsia && f.dump.System.OS != minidump.Solaris {
		return nil, errNotELF
	}
	if id := m.DebugID(f.dump); id == "" || id == zeroDebugID {
		return nil, errNoID
	}
	why := errNoFile
	for _, place := range f.places(m.Name, main) {
		im, err := f.opts.Files.image(place, f.opener(place), m.DebugID(f.dump), func(im *elfimage.Image) error { return f.check(m, im) })
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			return im, nil
		}
		why = fmt.Errorf("%s: %w", place.path, err)
		if place.named {
			f.warn("%s: %v", m.Name, why)
		}
	}
	return nil, why
}

// place is where a file may be.
type place struct {
	root, path string
	named      bool // by the user
}

// opener returns what opens a place.
func (f *files) opener(p place) elfimage.Opener {
	switch dir, name := filepath.Split(p.path); {
	case p.named || p.root != "" || f.opts.TrustPaths:
		return regular.Word{}.Open
	case f.opts.Beside != "" && filepath.Clean(dir) == filepath.Clean(f.opts.Beside):
		return func(string, string) (*os.File, error) { return regular.OpenIn(f.dump.OpenNamed, f.opts.Beside, name) }
	}
	return f.dump.OpenNamed
}

func (f *files) places(name string, main bool) (list []place) {
	if main && f.opts.Exe != "" {
		list = append(list, place{"", f.opts.Exe, true})
	}
	switch {
	case f.opts.Sysroot != "":
		list = append(list, place{f.opts.Sysroot, name, false})
	case filepath.IsAbs(name):
		list = append(list, place{"", name, false})
	}
	if short := base(name); f.opts.Beside != "" && filepath.IsLocal(short) {
		list = append(list, place{"", filepath.Join(f.opts.Beside, short), false})
	}
	return list
}

// check compares a file with what the dump says of m.
func (f *files) check(m *minidump.Module, im *elfimage.Image) error {
	if im.Machine != f.arch.Machine || im.Order != f.arch.Order || im.Type != elf.ET_EXEC && im.Type != elf.ET_DYN {
		return errMachine
	}
	if m.CodeView.Kind == minidump.ELF {
		if im.BuildID == "" && m.DebugID(f.dump) == noBuildID(im) {
			return nil // Breakpad notes a sum of the code
		}
		if im.BuildID != m.CodeID(f.dump) {
			return fmt.Errorf("build ID %s, in the dump %s: %w", known(im.BuildID), m.CodeID(f.dump), errOther)
		}
		return nil
	}
	if id, err := symbolstore.Identifier(im); err != nil || id != m.DebugID(f.dump) {
		return fmt.Errorf("identifier %s, in the dump %s: %w", known(id), m.DebugID(f.dump), errOther)
	}
	return nil
}

// noBuildID returns the identifier of a file without a build ID, "" if there is none.
func noBuildID(im *elfimage.Image) string {
	id, err := symbolstore.Identifier(im)
	if err != nil {
		return ""
	}
	return id
}

func known(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}
