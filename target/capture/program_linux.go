//go:build amd64 || arm64 || s390x

package capture

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Program is this program as a target.
type Program struct {
	arch    *arch.Arch
	maps    string
	modules *target.Modules
	files   []*os.File
}

// Open finds out what is mapped. The error says that the processor has no descriptor (import its
// package, arch/amd64 for instance), or that /proc cannot be read.
func Open() (*Program, error) {
	p := &Program{arch: arch.ByName(runtime.GOARCH)}
	if p.arch == nil {
		return nil, fmt.Errorf("capture: there is no descriptor of %s", runtime.GOARCH)
	}
	return p, p.Refresh()
}

// Refresh finds out what is mapped now: call it when libraries were loaded.
func (p *Program) Refresh() error {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil || string(text) == p.maps {
		return err
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		return err
	}
	p.maps, p.modules = string(text), procmaps.Modules(maps, p.module)
	p.modules.Present = memory{}
	return nil
}

// module makes a module of a mapped file, which is opened when somebody first asks.
func (p *Program) module(f *procmaps.File) *target.Module {
	return target.NewModule(f.Path, f.Mappings, func() (*elf.Image, error) {
		if f.IsVDSO() {
			return elf.OpenMapped(memory{}, f.Lo, f.Hi-f.Lo)
		}
		im, file, err := elf.OpenFile(f.Path)
		if file != nil {
			p.files = append(p.files, file)
		}
		return im, err
	})
}

// Close closes the files of the modules: stacks that were made must not be used any more.
func (p *Program) Close() error {
	var first error
	for _, f := range p.files {
		if err := f.Close(); first == nil {
			first = err
		}
	}
	p.files = nil
	return first
}

// Target returns a context as a target. Frame 0 of its one thread is the function that has called
// [Context.Capture]. table has the sniffers, as sniffer.Table makes it. The target is valid until
// the context is used again.
func (p *Program) Target(c *Context, table *frame.Table) (target.Target, error) {
	if len(c.stack) == 0 {
		return nil, errors.New("capture: the context was not captured")
	}
	t := &thread{Program: p, memory: memory{c.raw.sp, c.stack}, id: c.tid}
	t.regs.Set(p.arch.PC, c.raw.pc)
	t.regs.Set(p.arch.SP, c.raw.sp)
	setThreadPointer(&t.regs, c.tp)
	for _, r := range p.arch.Regs {
		if p.arch.CalleeSaved.Has(r.Num) && int(r.Num) < len(c.raw.regs) && r.Num != p.arch.PC && r.Num != p.arch.SP {
			t.regs.Set(r.Num, c.raw.regs[r.Num])
		}
	}
	s, err := frame.New(t, t, table)
	if err != nil {
		return nil, err
	}
	for f, err := range s.All() {
		if err != nil {
			return nil, err
		}
		if fn := runtime.FuncForPC(uintptr(f.AddressInBlock())); fn != nil && strings.HasPrefix(fn.Name(), own) {
			continue
		}
		caller := &thread{Program: p, memory: t.memory, id: c.tid}
		f.Registers(&caller.regs)
		setThreadPointer(&caller.regs, c.tp)
		return caller, nil
	}
	return nil, errors.New("capture: nothing has called Capture")
}

// own is how the names of this package's functions that Capture consists of begin.
var own = func() string {
	pc, _, _, _ := runtime.Caller(0)
	name := runtime.FuncForPC(pc).Name()
	return name[:strings.LastIndexByte(name, '/')] + "/capture."
}()

// thread is a context as a target, and its thread.
type thread struct {
	*Program
	memory memory
	regs   arch.Registers
	id     int
}

func (t *thread) Arch() *arch.Arch                  { return t.arch }
func (t *thread) Memory() target.Memory             { return t.memory }
func (t *thread) Modules() *target.Modules          { return t.modules }
func (t *thread) Threads() ([]target.Thread, error) { return []target.Thread{t}, nil }
func (t *thread) ID() int                           { return t.id }
func (t *thread) Name() string                      { return "" }
func (t *thread) Close() error                      { return nil }
func (t *thread) Registers(to *arch.Registers) error {
	*to = t.regs
	return nil
}

// memory is the program's memory, with a copy of a stack.
type memory struct {
	sp    uint64
	stack []byte
}

// ReadMemory implements [target.Memory]. What is not mapped is an error, not a fault.
func (m memory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if off := addr - m.sp; off < uint64(len(m.stack)) {
		if n = copy(p, m.stack[off:]); n == len(p) {
			return n, nil
		}
	}
	if len(p) == n {
		return n, nil
	}
	at := addr + uint64(n)
	local := []unix.Iovec{{Base: &p[n]}}
	local[0].SetLen(len(p) - n)
	more, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(p) - n}}, 0)
	if err != nil || n+more < len(p) {
		more = max(more, 0)
		rest, again := pread(at+uint64(more), p[n+more:]) // also where process_vm_readv is forbidden
		more += rest
		if err = again; err != nil {
			err = fmt.Errorf("read %d bytes at %#x: %w: %w", len(p), addr, target.ErrUnmapped, err)
		}
	}
	return n + more, err
}

func pread(addr uint64, p []byte) (int, error) {
	f, err := os.Open("/proc/self/mem")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if addr > 1<<63-1 {
		return 0, unix.EIO
	}
	return f.ReadAt(p, int64(addr))
}
