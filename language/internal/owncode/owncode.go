// Package owncode says which physical frames are a run time's own: frames of functions that are no
// more than how functions of its language call each other.
package owncode

import (
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Code is the code of a run time, in one module of a process. It is safe for concurrent use.
type Code struct {
	module *target.Module
	image  *elf.Image
	bias   uint64
	isOwn  func(name string) bool

	mu   sync.Mutex
	list map[uint64]bool // of places that were asked for: most threads have the same ones
}

// mostPlaces bounds what is kept.
const mostPlaces = 1 << 14

// New returns the code of a module, whose symbols are in an image with a load bias. isOwn reports
// whether a function is the run time's own, by its name without the endings of gcc's parts of
// functions. A function without a name is.
func New(m *target.Module, im *elf.Image, bias uint64, isOwn func(name string) bool) *Code {
	return &Code{module: m, image: im, bias: bias, isOwn: isOwn}
}

// Has reports whether a frame is in the module.
func (c *Code) Has(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= c.module.Lo() && pc < c.module.Hi() && f.Module() == c.module
}

// Levels returns the levels of the frames of a stack that are the run time's own: in functions that
// are, and those in its module that also leaves out. also may be nil.
func (c *Code) Levels(s *language.Stack, also func(f *frame.Frame) bool) (levels []int) {
	for _, f := range s.Frames {
		if c.Has(f) && (also != nil && also(f) || c.Own(f.AddressInBlock())) {
			levels = append(levels, f.Level)
		}
	}
	return levels
}

// Own reports whether an address in the module is in a function that is the run time's own.
func (c *Code) Own(pc uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own, known := c.list[pc]
	if known {
		return own
	}
	name := ""
	if sym, ok := c.image.Symbols().Find(pc - c.bias); ok {
		name, _, _ = strings.Cut(c.image.Symbols().Name(sym), ".") // gcc's parts: ".cold", ".part.0"
	}
	if c.list == nil || len(c.list) == mostPlaces {
		c.list = map[uint64]bool{}
	}
	own = name == "" || c.isOwn(name)
	c.list[pc] = own
	return own
}

// Begins reports whether a name begins with one of prefixes.
func Begins(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
