package core

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/internal/segments"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Options say where the files of the dead process are.
type Options struct {
	// Exe is the program's file on this machine. If it is "", the file is looked for at the
	// program's path.
	Exe string
	// Sysroot is the folder that has the process's files by their paths; "" means this machine's
	// own root.
	Sysroot string
	// MaxUnpacked bounds the bytes that a compressed core unpacks to, in the folder for temporary
	// files; zeros take up no room there. 0 means 512 MiB and 256 times the packed size. If that is
	// not enough, Open fails with [ErrTooLarge].
	MaxUnpacked int64
	// TrustPaths has files of this machine that the core names opened with this program's rights.
	// Else they are opened with the rights of the core file's owner, if this program is root's and
	// the file is another user's.
	TrustPaths bool
}

// Target is a core file. It is safe for concurrent use. It implements
// [target.Target].
type Target struct {
	PID     int
	Exe     string  // the program's path as the core has it, else Options.Exe; "" if there is neither
	Command string  // the command line, as much as the kernel keeps of it; "" if the core has none
	Signal  *Signal // the signal that killed the process; nil if the core does not say

	arch    *arch.Arch
	threads []*Thread
	modules *target.Modules
	memory  target.Memory
	own     *segments.Memory
	files   *sysroot.Files
	file    *file
	stored  int64
	close   func() error
	word    regular.Word
}

// Errors of [Open]; test with errors.Is.
var (
	ErrNotCore = errors.New("not a core file")
	ErrArch    = errors.New("unknown architecture")
)

// Open opens a core file. The caller closes the target.
func Open(path string, o Options) (t *Target, err error) {
	file, sizes, owner, closer, err := open(path, o.MaxUnpacked)
	if err != nil {
		return nil, fmt.Errorf("core %s: %w", path, err)
	}
	if o.TrustPaths {
		owner = nil
	}
	if t, err = read(file, sizes, filepath.Dir(path), regular.Word{Here: owner}, o); err != nil {
		closer()
		return nil, fmt.Errorf("core %s: %w", path, err)
	}
	t.close = closer
	return t, nil
}

// Read makes a target of the bytes of an uncompressed core file. r must stay readable as long as
// the target is used. The caller closes the target, which does not close r.
func Read(r io.ReaderAt, size int64, o Options) (*Target, error) {
	t, err := read(r, sizes{size, elffile.There(r, size)}, "", regular.Word{}, o)
	if err != nil {
		return nil, fmt.Errorf("core: %w", err)
	}
	t.close = func() error { return nil }
	return t, nil
}

// sizes are a core's: as it is read, and on disk, where it may be compressed and have holes.
type sizes struct{ whole, there int64 }

// open opens the file, unpacked if need be. owner is the user on whose word the core is.
func open(path string, maxUnpacked int64) (r io.ReaderAt, size sizes, owner *regular.User, closer func() error, err error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, size, nil, nil, withoutPath(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, size, nil, nil, withoutPath(err)
	}
	size.there = elffile.There(file, info.Size())
	on := file
	owner = regular.OwnerOf(file)
	file, closer, err = unpack(file, maxUnpacked)
	if err != nil {
		return nil, size, nil, nil, err
	}
	if info, err = file.Stat(); err != nil {
		closer()
		return nil, size, nil, nil, withoutPath(err)
	}
	size.whole = info.Size()
	if file != on {
		return unpacked{file, usualRatio * size.there}, size, owner, closer, nil
	}
	return file, size, owner, closer, nil
}

// OpenNamed opens a file that the core, or the debug information of what it had mapped, names,
// below root or, if that is "", on this machine: there with the rights of the core file's owner, if
// this program is root's and [Options.TrustPaths] is not given. It is an [elfimage.Opener].
func (t *Target) OpenNamed(root, path string) (*os.File, error) { return t.word.Open(root, path) }

// withoutPath takes the path off an error that the caller's message names already.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// read makes the target of a core's bytes. dir is the core's folder, or ""; word is the core's.
func read(r io.ReaderAt, size sizes, dir string, word regular.Word, o Options) (*Target, error) {
	f, err := readFile(r, size.whole)
	if err != nil {
		return nil, err
	}
	f.maxThreads = usualThreads + int(min(size.there, 1<<30))/threadSize
	n, err := f.notes()
	if err != nil {
		return nil, err
	}
	if len(n.threads) == 0 {
		if f.missing > 0 {
			return nil, fmt.Errorf("cut short before the first thread's registers: %s %s missing", count.Of(f.missing, "byte"), count.Verb(f.missing, "is", "are"))
		}
		return nil, fmt.Errorf("it has no thread's registers (NT_PRSTATUS): %w", ErrNotCore)
	}
	t := &Target{PID: n.pid, Command: n.command, Signal: n.signal, arch: f.arch.WithPACMask(n.pacMask), threads: n.threads, own: f.memory(), file: f, word: word, stored: size.there}
	l := &loader{core: f, notes: n, own: t.own, opts: o, dir: dir, opened: map[string]*elfimage.Image{}}
	l.load(t)
	if f.missing > 0 {
		t.files.Warn("the core is cut short: %d of %d bytes are missing: memory is incomplete", f.missing, size.whole+f.missing)
	}
	for _, w := range n.warnings {
		t.files.Warn("%s", w)
	}
	return t, nil
}

// Stored returns the bytes that the file takes up, compressed as it may be, and without holes.
func (t *Target) Stored() int64 { return t.stored }

// Arch returns the process's architecture. If the core tells the process's address mask, Arch has
// that one.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space: the core's bytes, and, for unchanged memory that the core
// leaves out, the bytes of the mapped files.
func (t *Target) Memory() target.Memory { return t.memory }

// Modules returns what was mapped.
func (t *Target) Modules() *target.Modules { return t.modules }

// Threads returns the threads, each a [*Thread]. The one that died comes first, the others follow
// in the core's order. The error is always nil.
func (t *Target) Threads() ([]target.Thread, error) {
	list := make([]target.Thread, len(t.threads))
	for i, th := range t.threads {
		list[i] = th
	}
	return list, nil
}

// Warnings returns what the user should know about the answers so far, one sentence each. Later
// calls may return more, because files are opened when they are first needed.
func (t *Target) Warnings() []string { return t.files.Warnings() }

// Warn adds a warning. It is for targets that are built on this one.
func (t *Target) Warn(format string, args ...any) { t.files.Warn(format, args...) }

// Close closes the core and the files.
func (t *Target) Close() error { return errors.Join(t.files.Close(), t.close()) }

// Thread is one thread of a [Target].
type Thread struct {
	// Died says that this thread received the signal that killed the process.
	Died bool
	// Signal is the number of the signal that the kernel noted for the thread; 0 means none.
	Signal int

	id      int
	name    string
	regs    arch.Registers
	blocked uint64 // pr_sighold

	file *file
	sets []setNote // that have wide registers, in the order of the file
}

// setNote is where a register set of a thread is in the file.
type setNote struct {
	note     uint32
	at, size uint64
}

// ID returns the kernel's thread ID.
func (t *Thread) ID() int { return t.id }

// Name returns the thread's name. A core has the name of the main thread alone; other threads have
// "".
func (t *Thread) Name() string { return t.name }

// Registers fills in the thread's registers.
func (t *Thread) Registers(r *arch.Registers) error {
	*r = t.regs
	return nil
}

// ReadRegister implements [target.WideThread].
func (t *Thread) ReadRegister(r trad.Reg, offset int, b []byte) error {
	return t.WideSets().ReadRegister(t.file.arch, r, offset, b)
}

// WideSets reads the register sets that have the thread's wide registers, and their layout. Sets
// that the file lacks are left out.
func (t *Thread) WideSets() (sets target.RegisterSets) {
	list := t.sets
	if t.file.layout.note != 0 && len(list) > 0 {
		list = append(slices.Clip(list), t.file.layout)
	}
	for _, s := range list {
		data := make([]byte, s.size)
		if n, _ := t.file.r.ReadAt(data, int64(s.at)); n == len(data) {
			sets = append(sets, target.RegisterSet{Note: s.note, Data: data})
		}
	}
	return sets
}

// readFile reads the ELF headers of a core.
func readFile(r io.ReaderAt, size int64) (*file, error) {
	var ident [20]byte
	if n, _ := r.ReadAt(ident[:], 0); n < len(ident) || string(ident[:4]) != elf.ELFMAG {
		return nil, fmt.Errorf("not an ELF file: %w", ErrNotCore)
	}
	im, err := elfimage.Open(r, size)
	if err != nil {
		return nil, err
	}
	if im.Type != elf.ET_CORE {
		what := "an ELF file of type " + im.Type.String()
		switch im.Type {
		case elf.ET_EXEC, elf.ET_DYN:
			what = "a program or a library: give the core file, and this one by --exe"
		}
		return nil, fmt.Errorf("it is %s: %w", what, ErrNotCore)
	}
	a := arch.ByMachine(im.Machine, im.Order)
	if a == nil || im.Class != a.Class() {
		return nil, fmt.Errorf("it is of a process on %v (%v, %v): %w", im.Machine, im.Class, im.Order, ErrArch)
	}
	f := &file{r: r, size: size, arch: a, progs: im.Progs}
	for _, p := range im.Progs {
		if end := p.Off + p.Filesz; p.Filesz > 0 && end > uint64(size) && end < 1<<62 {
			f.missing = max(f.missing, int64(end-uint64(size)))
		}
	}
	return f, nil
}

// file is a core file.
type file struct {
	r       io.ReaderAt
	size    int64
	missing int64 // bytes beyond its end that the headers refer to
	arch    *arch.Arch
	progs   []elf.ProgHeader

	maxThreads int

	wideSets []uint32 // types of notes
	layout   setNote  // NT_X86_XSAVE_LAYOUT; the zero setNote if the file has none
}
