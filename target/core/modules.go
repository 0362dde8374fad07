package core

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/segments"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// loader finds out what was mapped.
type loader struct {
	core  *file
	notes *notes
	own   *segments.Memory
	opts  Options
	dir   string // the core's folder
	files *sysroot.Files

	opened    map[string]*elfimage.Image // by path; nil for what cannot be opened
	carriedAt map[string]carried         // by path

	doubted bool // a warning has said that the program of Options.Exe has other headers
}

// load fills in the target's modules, memory and files.
func (l *loader) load(t *Target) {
	t.Exe = l.exePath()
	o := sysroot.Options{Arch: l.core.arch, Exe: l.opts.Exe, ExePath: t.Exe, Root: l.opts.Sysroot, Fits: l.isProgram, Word: t.word}
	if l.opts.Sysroot == "" {
		// A core is left in the folder in which the program ran. People who send a core put the
		// files into its folder, or all of them into one.
		for _, name := range [...]string{l.dir, l.opts.Exe} {
			if name == "" {
				continue
			}
			if name == l.opts.Exe {
				name = filepath.Dir(name)
			}
			if dir, err := filepath.Abs(name); err == nil && !slices.Contains(o.Beside, dir) {
				o.Beside = append(o.Beside, dir)
			}
		}
	}
	if len(l.notes.carried) > 0 {
		l.carriedAt = carriedByPath(l.notes)
		o.Fetch = l.carried
	}
	l.files = sysroot.New(o, l.own)
	t.files = l.files
	list := l.mapped()
	if !l.notes.allFiles {
		list = l.linked(t.Exe, list)
	}
	if !l.notes.allFiles || l.notes.auxv[linkmap.ATSysinfoEhdr] == 0 {
		list = l.addUnlisted(t.Exe, list)
	}
	if l.notes.allFiles { // else linked has looked for the program, and warned if it is not there
		l.files.CheckExe(list)
	}
	if t.Exe == "" {
		t.Exe = l.opts.Exe
	}
	t.modules = target.NewModules(list, l.code(list))
	t.modules.Present = l.own
	t.modules.NamedFile = func(path string) (io.ReadCloser, error) { return t.OpenNamed(l.opts.Sysroot, path) }
	t.memory = &segments.Overlay{Own: l.own, Modules: t.modules}
	jit.Register(t.modules, t.memory, l.core.arch, l.files.Warn)
}

// isProgram compares a file with what the auxiliary vector says of the program. Tools that remove
// sections change the headers, so a program that the user names may have others.
func (l *loader) isProgram(im *elfimage.Image) error {
	const page = 0xfff
	entry, headers := l.notes.auxv[linkmap.ATEntry], l.notes.auxv[linkmap.ATPhnum]
	switch bias := entry - im.Entry; {
	case entry != 0 && (bias&page != 0 || bias != 0 && im.Type == elf.ET_EXEC):
		return fmt.Errorf("it begins at %#x, the program at %#x", im.Entry, entry)
	case headers == 0 || headers == uint64(len(im.Progs)):
	case l.opts.Exe == "":
		return fmt.Errorf("it has %d program headers, the program %d", len(im.Progs), headers)
	case !l.doubted:
		l.doubted = true
		l.files.Warn("%s has %d program headers, the program that died %d: is it the same build?", l.opts.Exe, len(im.Progs), headers)
	}
	return nil
}

// exePath returns the path of the file in NT_FILE that holds the program's entry, which is the full
// path, or else the path by which the program was started.
func (l *loader) exePath() string {
	for _, f := range l.notes.files {
		for _, typ := range [...]uint64{linkmap.ATEntry, linkmap.ATPhdr} {
			if at := l.notes.auxv[typ]; at != 0 && at-f.Lo < f.Hi-f.Lo {
				return f.Path
			}
		}
	}
	name := linkmap.Name(l.own, l.notes.auxv[linkmap.ATExecfn])
	if !l.notes.allFiles {
		return name
	}
	// Without the auxiliary vector, the name in NT_PRPSINFO must do, which is cut off at 15 bytes.
	for _, known := range [...]string{name, l.opts.Exe, l.notes.name} {
		for _, f := range l.notes.files {
			base := path.Base(f.Path)
			if known != "" && (base == path.Base(filepath.ToSlash(known)) || known == l.notes.name && len(known) == maxComm && strings.HasPrefix(base, known)) {
				return f.Path
			}
		}
	}
	return name
}

// maxComm is how many bytes of a program's name the kernel keeps.
const maxComm = 15

// mapped makes a module for each file in NT_FILE that has code mapped, and for the vDSO.
func (l *loader) mapped() (list []*target.Module) {
	for i := range l.notes.files {
		m := &l.notes.files[i]
		if s := l.own.Find(m.Lo); s != nil {
			m.Read, m.Write, m.Exec = s.Flags&elf.PF_R != 0, s.Flags&elf.PF_W != 0, s.Flags&elf.PF_X != 0
		} else {
			m.Exec = l.leftOut(m)
		}
	}
	for _, f := range procmaps.Files(l.withCode(l.notes.files)) {
		if f.Code {
			module := l.files.Module
			if f.Deleted {
				module = l.files.Deleted
			}
			list = append(list, module(f.Path, f.Mappings))
		}
	}
	if m := l.vdso(); m != nil {
		list = append(list, m)
	}
	return list
}

// withCode adds executable memory that no file has: it may be a copy of a file's code.
func (l *loader) withCode(files []procmaps.Mapping) []procmaps.Mapping {
	var maps []procmaps.Mapping
	for i := range l.own.List {
		s := &l.own.List[i]
		if _, is := procmaps.Find(files, s.Lo); s.Flags&elf.PF_X != 0 && !is {
			maps = append(maps, procmaps.Mapping{Lo: s.Lo, Hi: s.Hi, Exec: true})
		}
	}
	if len(maps) == 0 {
		return files
	}
	maps = append(maps, files...)
	slices.SortStableFunc(maps, func(a, b procmaps.Mapping) int { return cmp.Compare(a.Lo, b.Lo) })
	return maps
}

// leftOut reports whether m, a mapping for which the core has no segment, may be code: gdb's cores
// leave out unchanged code. The file's headers tell; without the file, it may be.
func (l *loader) leftOut(m *procmaps.Mapping) bool {
	im, ok := l.opened[m.Path]
	if !ok {
		im, _, _ = l.files.Open(m.Path)
		l.opened[m.Path] = im
	}
	if im == nil {
		return true
	}
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && m.Offset < p.Off+p.Filesz && p.Off < m.Offset+(m.Hi-m.Lo) {
			return true
		}
	}
	return false
}

// vdso returns the kernel's library if the core has its bytes. qemu's cores tell only where it was.
func (l *loader) vdso() *target.Module {
	at := l.notes.auxv[linkmap.ATSysinfoEhdr]
	s := l.own.Find(at)
	if at == 0 || s == nil || s.Has == 0 {
		return nil
	}
	return l.files.Module("[vdso]", []target.Mapping{{Lo: s.Lo, Hi: s.Hi, Exec: true}})
}

// linked adds the modules that the dynamic linker has loaded, for cores that lack NT_FILE or a part
// of it.
func (l *loader) linked(exePath string, list []*target.Module) []*target.Module {
	var exe *elfimage.Image
	name := l.opts.Exe
	if exePath != "" || name != "" {
		var err error
		if name == "" {
			name = exePath
		}
		if exe, _, err = l.files.Open(exePath); err != nil {
			exe = nil
		}
	}
	objects, err := linkmap.Read(l.own, l.core.arch, l.notes.auxv, exe)
	switch {
	case err != nil && exe == nil && !l.notes.hasFiles:
		l.files.Warn("the core does not list the files that were mapped, and its program %s: give the program by --exe", missing(name))
	case err != nil:
		l.files.Warn("what was loaded is not all known: %v", err)
	}
	listed := target.NewModules(list, nil)
	for _, o := range objects {
		if listed.Find(max(o.Header, o.Bias)) != nil {
			continue
		}
		if o.Path == "[vdso]" {
			if m := l.vdso(); m != nil {
				list = append(list, m)
			}
			continue
		}
		if o.Program {
			o.Path = exePath
		}
		if m, err := l.files.Object(o); err == nil {
			list = append(list, m)
		}
	}
	return list
}

func missing(name string) string {
	if name == "" {
		return "is not known"
	}
	return name + " cannot be opened"
}

// code returns the executable memory that belongs to no module.
func (l *loader) code(modules []*target.Module) (list []target.Mapping) {
	known := target.NewModules(modules, nil)
	for i := range l.own.List {
		if s := &l.own.List[i]; s.Flags&elf.PF_X != 0 && known.Find(s.Lo) == nil {
			list = append(list, target.Mapping{Lo: s.Lo, Hi: s.Hi, Exec: true, Kernel: l.kernelName(i)})
		}
	}
	return list
}

// kernelName returns the kernel's name for the memory of a segment, which a core does not tell; ""
// if it is not the kernel's own code. The page that the kernel makes for probes may be run, and
// neither read nor written. It lies behind all else that the process has: behind the stack, where
// nothing is that nobody has asked for by its address.
func (l *loader) kernelName(i int) string {
	vsyscall := func(i int) bool { return l.core.arch.Vsyscall != 0 && l.own.List[i].Lo == l.core.arch.Vsyscall }
	s, behind := &l.own.List[i], len(l.own.List)-1-i
	switch {
	case vsyscall(i):
		return "[vsyscall]"
	case s.Flags != elf.PF_X || s.Hi-s.Lo != l.notes.auxv[linkmap.ATPagesz]:
		return ""
	case behind == 0, behind == 1 && vsyscall(i+1):
		return "[uprobes]"
	}
	return ""
}
