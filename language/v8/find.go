package v8

import (
	"errors"
	"fmt"

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

var anyConstant = elf.Seldom("v8dbg_SmiTagMask")

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil {
		return nil, nil // it is said elsewhere that the file cannot be read
	}
	if !im.MayHaveSymbol(anyConstant) {
		return nil, nil
	}
	for _, s := range im.LookupExported(anyConstant, 1) {
		if s.Addr+bias < m.Lo() || s.Addr+bias >= m.Hi() {
			return nil, nil // it is a copy of the builtin functions alone, which Node.js has made
		}
	}
	c := constantsOf(im, bias, p.Memory, p.Arch)
	if len(c.values) == 0 {
		return nil, nil
	}
	if p.Arch.Name != "amd64" {
		return nil, fmt.Errorf("V8's frames are known of amd64 alone")
	}
	l, err := layOut(c)
	if l == nil {
		return nil, err
	}
	return []language.Runtime{&engine{path: m.Path, layout: l}}, err
}

// engine is V8 in a process. Its builtin functions may run in a copy: the module of a frame is
// known by its path.
type engine struct {
	*layout
	path  string // of the module
	pages pages.Spare
	lines lineTables
}

// constants are what a module with V8 exports.
type constants struct {
	values map[string]int64 // of v8dbg_*, without that prefix
	major  int
	minor  int
	lacks  string // the first name that was asked for in vain
}

// Bounds of what a module exports.
const (
	mostConstants = 4096
	constantBegin = "v8dbg_"
	versionBegin  = "_ZN2v88internal7Version"
)

// constantsOf reads them. The file has most; the process has the ones that are zero.
func constantsOf(im *elf.Image, bias uint64, m target.Memory, a *arch.Arch) *constants {
	c := &constants{values: map[string]int64{}}
	number := func(s elf.Symbol) (v int64, ok bool) {
		var word [4]byte
		if im.ReadLoaded(s.Addr, word[:]) < len(word) {
			if n, _ := m.ReadMemory(s.Addr+bias, word[:]); n < len(word) {
				return 0, false
			}
		}
		return int64(int32(a.Order.Uint32(word[:]))), true
	}
	for name, s := range im.LookupExported(constantBegin, mostConstants) {
		if v, ok := number(s); ok {
			c.values[name[len(constantBegin):]] = v
		}
	}
	for name, s := range im.LookupExported(versionBegin, 16) {
		v, _ := number(s)
		switch name[len(versionBegin):] {
		case "6major_E":
			c.major = int(v)
		case "6minor_E":
			c.minor = int(v)
		}
	}
	return c
}

// of returns the first of these constants that is there.
func (c *constants) of(names ...string) int64 {
	for _, name := range names {
		if v, ok := c.values[name]; ok {
			return v
		}
	}
	if c.lacks == "" {
		c.lacks = names[0]
	}
	return 0
}

// either returns the first of these constants that is there, or another value.
func (c *constants) either(other int64, names ...string) int64 {
	for _, name := range names {
		if v, ok := c.values[name]; ok {
			return v
		}
	}
	return other
}

var errPacked = errors.New("this V8 has compressed pointers, which are not known")
