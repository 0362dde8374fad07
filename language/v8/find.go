package v8

import (
	debugelf "debug/elf"
	"errors"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds V8 in processes.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "javascript" }

// FramesOnStack implements [language.OnStack].
func (Decorator) FramesOnStack() {}

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil {
		return nil, nil // it is said elsewhere that the file cannot be read
	}
	any, tells := im.Exported(constantBegin + "SmiTagMask")
	if !tells {
		if any, _ = im.Exported(known); any.Addr == 0 {
			any.Addr = chromiumNote(im)
		}
	}
	if any.Addr == 0 || any.Addr+bias < m.Lo() || any.Addr+bias >= m.Hi() {
		return nil, nil // it is none, or a copy of the builtin functions alone, which V8 makes
	}
	c := &constants{image: im, bias: bias, memory: p.Memory, arch: p.Arch}
	if !tells {
		if c.version = untold(m, im); c.version.err == errNoVersion {
			return nil, nil
		} else if c.version.err != nil {
			return nil, c.version.err
		}
	}
	if !p.Arch.V8 {
		return nil, errors.New("V8's frames are known of amd64 alone")
	}
	l, err := layOut(c)
	if l == nil {
		return nil, err
	}
	l.async, l.noAsync = layOutAsync(c, l)
	l.threadLocal = threadLocal(im)
	return []language.Runtime{&engine{path: m.Path, image: im, bias: bias, bare: isBare(im), untold: !tells, memory: p.Memory, modules: p.Modules, layout: l, arch: p.Arch, threads: p.Threads}}, err
}

// engine is V8 in a process. Its builtin functions may run in a copy: the module of a frame is
// known by its path.
type engine struct {
	*layout
	path     string     // of the module
	image    *elf.Image // the same
	bias     uint64
	untold   bool          // it does not tell of V8's objects
	bare     bool          // it has no symbols but the ones that it exports
	memory   target.Memory // of the process, as it is when it is read
	modules  *target.Modules
	arch     *arch.Arch
	threads  func() ([]target.Thread, error) // nil if nobody knows them
	pages    pages.Spare
	lines    lineTables
	kept     kept
	builtins builtins
	moment   moment
}

// constants are numbers that a module with V8 exports, or a table has.
type constants struct {
	image   *elf.Image
	bias    uint64
	memory  target.Memory
	arch    *arch.Arch
	version *version // nil if it exports them
	lacks   string   // the first name that was asked for in vain
}

const (
	constantBegin = "v8dbg_"
	versionBegin  = "_ZN2v88internal7Version"
)

// release returns the release of V8.
func (c *constants) release() (major, minor int) {
	if c.version != nil {
		return c.version.major, c.version.minor
	}
	first, _ := c.read(versionBegin + "6major_E")
	second, _ := c.read(versionBegin + "6minor_E")
	return int(first), int(second)
}

// number returns a number.
func (c *constants) number(name string) (v int64, ok bool) {
	if c.version != nil {
		v, ok = c.version.told[name]
		return v, ok
	}
	return c.read(constantBegin + name)
}

// read reads a number. The file has most; the process has the ones that are zero.
func (c *constants) read(symbol string) (v int64, ok bool) {
	s, ok := c.image.Exported(symbol)
	if !ok {
		return 0, false
	}
	var word [4]byte
	if c.image.ReadLoaded(s.Addr, word[:]) < len(word) {
		if n, _ := c.memory.ReadMemory(s.Addr+c.bias, word[:]); n < len(word) {
			return 0, false
		}
	}
	return int64(int32(c.arch.Order.Uint32(word[:]))), true
}

// of returns the first of these constants that is there.
func (c *constants) of(names ...string) int64 {
	for _, name := range names {
		if v, ok := c.number(name); ok {
			return v
		}
	}
	if c.lacks == "" {
		c.lacks = names[0]
	}
	return 0
}

// either returns a constant, or another value if it is not there.
func (c *constants) either(other int64, name string) int64 {
	if v, ok := c.number(name); ok {
		return v
	}
	return other
}

var errPacked = errors.New("this V8 has compressed pointers, and is not Chromium's: its layout is not known")

// threadLocal returns how many bytes of its own variables a program has in each thread; 0 for a
// library, whose variables need not be at the thread pointer.
func threadLocal(im *elf.Image) uint64 {
	size, program := uint64(0), false
	for _, p := range im.Progs {
		switch p.Type {
		case debugelf.PT_TLS:
			align := min(max(p.Align, 8), mostLocal)
			size = min((min(p.Memsz, mostLocal)+align-1)/align*align, mostLocal)
		case debugelf.PT_INTERP:
			program = true
		}
	}
	if !program {
		return 0
	}
	return size
}

// isBare reports whether a file has no symbols but the ones that it exports.
func isBare(im *elf.Image) bool {
	return !slices.ContainsFunc(im.ELF().Sections, func(s *elf.Section) bool { return s.Type == debugelf.SHT_SYMTAB })
}
