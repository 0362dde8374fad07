package minidump

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/segments"
	"github.com/sfwalk/sfwalk/target"
)

// Options say where the files of the process are.
type Options struct {
	// Exe is the program's file on this machine. If it is "", the file is looked for at the
	// program's path.
	Exe string
	// Sysroot is the folder that has the process's files by their paths; "" means this machine's
	// own root.
	Sysroot string
	// Beside is a folder in which files are looked for by their names alone; "" for none. [Open]
	// takes the dump's.
	Beside string
	// TrustPaths has files opened with this program's rights. Else the files that the dump names
	// are opened as [minidump.File.OpenNamed] does.
	TrustPaths bool
	// Files are the files that this target shares with others; nil if it has its own, which its
	// Close closes.
	Files *Files
}

// Target is a minidump. It is safe for concurrent use. It implements [target.Target].
type Target struct {
	Dump      *minidump.File
	Languages Languages // what languages said of the stacks

	arch    *arch.Arch
	threads []*Thread
	modules *target.Modules
	memory  target.Memory
	files   *files
}

// ErrArch says that the processor's stacks cannot be walked; test with errors.Is. The dump can be
// read.
var ErrArch = errors.New("its stacks cannot be walked")

// Open opens a minidump. The caller closes the target. The error wraps [minidump.ErrNot] or
// [ErrArch].
//
// [minidump.ErrNot]: https://pkg.go.dev/github.com/sfwalk/sfwalk/format/minidump#ErrNot
func Open(path string, o Options) (*Target, error) {
	dump, err := minidump.Open(path)
	if err != nil {
		return nil, err
	}
	if o.Beside == "" {
		o.Beside = filepath.Dir(path)
	}
	t, err := New(dump, o)
	if err != nil {
		dump.Close()
		return nil, fmt.Errorf("minidump %s: %w", path, err)
	}
	return t, nil
}

// New makes a target of a dump. The caller closes the target, which closes the dump. The error
// wraps [ErrArch].
func New(dump *minidump.File, o Options) (*Target, error) {
	a, err := processor(dump)
	if err != nil {
		return nil, err
	}
	t := &Target{Dump: dump, arch: a, files: newFiles(dump, a, o)}
	for _, w := range dump.Warnings {
		t.files.warn("%s", w)
	}
	if t.Languages, err = languagesIn(dump.Languages); err != nil {
		t.files.warn("%v", err)
	}
	t.threads = threads(dump, a)
	var list []segments.Segment
	for _, r := range dump.Ranges() {
		list = append(list, segments.Segment{Lo: r.Lo, Hi: r.Lo + r.Size, Off: r.Offset, Has: r.Size, Flags: elf.PF_R | elf.PF_W})
	}
	own := segments.New(dump.Reader(), list)
	t.files.own = own
	t.modules = t.files.modules()
	t.memory = &segments.Overlay{Own: own, Modules: t.modules}
	t.modules.Present = own
	return t, nil
}

func processor(dump *minidump.File) (*arch.Arch, error) {
	if !dump.System.Known {
		return nil, fmt.Errorf("it does not say of which processor it is: %w", ErrArch)
	}
	a := arch.ByMinidump(uint16(dump.System.Processor))
	if a == nil || a.Order != binary.ByteOrder(dump.Order) {
		return nil, fmt.Errorf("it is of processor %v: %w", dump.System.Processor, ErrArch)
	}
	if c := dump.Crashpad; c != nil && c.AddressMask != 0 {
		a = a.WithPACMask(notAddress(c.AddressMask))
	}
	return a, nil
}

// notAddress returns the bits of a code pointer that are no address. Writers do not agree whether
// Crashpad's mask has those, or the others; the lowest bits are always address.
func notAddress(mask uint64) uint64 {
	if mask&1 != 0 {
		return ^mask
	}
	return mask
}

// Arch returns the process's architecture.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space: the dump's bytes, and, for code that the dump leaves out, the
// bytes of the modules' files.
func (t *Target) Memory() target.Memory { return t.memory }

// Modules returns what was mapped.
func (t *Target) Modules() *target.Modules { return t.modules }

// Threads returns the threads, each a [*Thread]. The one that the dump is about comes first, the
// others follow in the dump's order, but for the one that wrote the dump. The error is always nil.
func (t *Target) Threads() ([]target.Thread, error) {
	list := make([]target.Thread, len(t.threads))
	for i, th := range t.threads {
		list[i] = th
	}
	return list, nil
}

// Warnings returns what the user should know about the answers so far, one sentence each. Later
// calls may return more, because files are opened when they are first needed.
func (t *Target) Warnings() []string { return t.files.warnings() }

// Close closes the dump and the files.
func (t *Target) Close() error { return errors.Join(t.files.close(), t.Dump.Close()) }

// Thread is one thread of a [Target].
type Thread struct {
	// Index counts the threads in the dump's order, without the one that wrote the dump.
	Index int
	// Died says that the exception came to this thread.
	Died bool
	// Requesting says that the dump is about this thread: it died, or asked for the dump.
	Requesting bool

	id   int
	name string
	regs arch.Registers
	err  error
}

// ID returns the system's thread ID.
func (t *Thread) ID() int { return t.id }

// Name returns the thread's name, "" if the dump has none.
func (t *Thread) Name() string { return t.name }

// Registers fills in the thread's registers. The thread that died has its registers at the
// exception.
func (t *Thread) Registers(r *arch.Registers) error {
	*r = t.regs
	return t.err
}

// registers returns a thread's registers, at its exception if it has met one.
func registers(dump *minidump.File, t *minidump.Thread) ([]minidump.Register, error) {
	context := dump.ContextOf(t)
	regs, err := dump.Registers(context)
	if err != nil && context != t.Context {
		return dump.Registers(t.Context)
	}
	return regs, err
}

// threads makes the list of threads.
func threads(dump *minidump.File, a *arch.Arch) (list []*Thread) {
	requesting, known := dump.Requesting()
	first := -1
	var numbers []int // of the registers of a context; the contexts of all threads mostly have the same
	for i := range dump.Threads {
		x := &dump.Threads[i]
		if x.ID == dump.Breakpad.Handler && x.ID != 0 {
			continue
		}
		t := &Thread{Index: len(list), id: int(x.ID), name: x.Name}
		if known && x.ID == requesting && first < 0 {
			first, t.Requesting, t.Died = len(list), true, dump.Died()
		}
		regs, err := registers(dump, x)
		t.err = err
		for k, r := range regs {
			if k == len(numbers) {
				numbers = append(numbers, -1)
			}
			if n := numbers[k]; n < 0 || a.Regs[n].Name != r.Name {
				numbers[k] = slices.IndexFunc(a.Regs, func(info arch.RegInfo) bool { return info.Name == r.Name })
			}
			if n := numbers[k]; n >= 0 {
				t.regs.Set(a.Regs[n].Num, r.Value)
			}
		}
		list = append(list, t)
	}
	if first > 0 {
		about := list[first]
		copy(list[1:], list[:first])
		list[0] = about
	}
	return list
}
