package calling

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// remapper is a process whose modules stay as they were until it is asked for them anew.
type remapper interface{ Remap() error }

// Symbol returns the symbol of a name; nil if the process has none. The error says that several
// functions have the name.
func (c *Caller) Symbol(name string) (*value.Symbol, error) {
	s, several, ok := c.find(name)
	if again, can := c.Process.(remapper); !ok && !several && can && again.Remap() == nil {
		s, several, ok = c.find(name)
	}
	if several {
		return nil, fmt.Errorf("several functions are called %s: write the types of the parameters behind the name, as in"+
			" '%s(int)(1)', or use the linker's name of one of them, as nm shows it", name, name)
	}
	if !ok {
		return nil, nil
	}
	return &s, nil
}

// maxNamesakes bounds the symbols of one name in a module.
const maxNamesakes = 16

// found is what a name was found to be.
type found struct {
	value.Symbol
	several, ok bool
}

// find finds a symbol by its name: in the program, then in the libraries. several says that several
// functions have the name.
func (c *Caller) find(name string) (f value.Symbol, several, ok bool) {
	order := c.inOrder(c.Process.Modules())
	x, known := c.known[name]
	if !known {
		for _, m := range order {
			if x.Symbol, x.ok = c.findIn(m, name); x.ok {
				break
			}
		}
		if !x.ok && len(name) > 2 {
			x.Symbol, x.several, x.ok = c.findDemangled(order, name)
		}
		c.known[name] = x
	}
	return x.Symbol, x.several, x.ok
}

// inOrder returns the modules in the order in which the dynamic linker looks names up: the program
// first, then the libraries of its link map. So a library that was preloaded is asked before the
// one whose functions it replaces.
func (c *Caller) inOrder(modules *target.Modules) []*target.Module {
	if c.ordered != nil && c.generation == modules.Generation {
		return c.ordered
	}
	list := slices.Clone(modules.All())
	rank := map[uint64]int{} // by load bias
	a := c.Process.Arch()
	objects, _ := linkmap.Read(c.Process.Memory(), a, linkmap.ParseAuxv(c.Auxv, a), nil)
	for i, o := range objects {
		if _, twice := rank[o.Bias]; !twice {
			rank[o.Bias] = i + 1
		}
	}
	place := func(m *target.Module) int {
		if m.Path == c.Exe {
			return 0
		}
		if _, bias, err := m.PeekImage(); err == nil && rank[bias] > 0 {
			return rank[bias]
		}
		return len(objects) + 1
	}
	slices.SortStableFunc(list, func(a, b *target.Module) int { return place(a) - place(b) })
	c.ordered, c.generation, c.known = list, modules.Generation, map[string]found{}
	return list
}

func (c *Caller) findIn(m *target.Module, name string) (f value.Symbol, ok bool) {
	im, bias, err := m.PeekImage()
	if err != nil || im == nil {
		return f, false
	}
	var list []elfimage.Symbol
	if im.MayHaveSymbol(name) {
		list = im.Lookup(name, maxNamesakes)
	}
	if len(list) == 0 && c.Symbols != nil {
		if d := c.Symbols.DebugFile(m); d != nil && d.MayHaveSymbol(name) {
			list = d.Lookup(name, maxNamesakes)
		}
	}
	best := -1
	for i, s := range list {
		if best < 0 || worth(s) > worth(list[best]) {
			best = i
		}
	}
	if best < 0 {
		return f, false
	}
	s := list[best]
	f = value.Symbol{Addr: s.Addr + bias, Function: s.Type == elf.STT_FUNC || s.Type == elf.STT_GNU_IFUNC, Indirect: s.Type == elf.STT_GNU_IFUNC}
	if s.Type == elf.STT_NOTYPE {
		f.Function = c.Process.Modules().IsCode(f.Addr)
	}
	return f, true
}

// worth orders symbols of one name.
func worth(s elfimage.Symbol) int {
	n := 0
	if !s.Old {
		n += 4
	}
	if s.Type == elf.STT_FUNC || s.Type == elf.STT_GNU_IFUNC {
		n += 2
	}
	if s.Size > 0 {
		n++
	}
	return n
}

// findDemangled finds a function by the name that a user reads: a::b.
func (c *Caller) findDemangled(modules []*target.Module, name string) (f value.Symbol, several, ok bool) {
	last := name[strings.LastIndexByte(name, ':')+1:]
	for _, m := range modules {
		im, bias, err := m.PeekImage()
		if err != nil || im == nil {
			continue
		}
		for _, image := range []*elfimage.Image{im, c.debugFile(m)} {
			if image == nil {
				continue
			}
			all := image.Symbols()
			for i := range all.Len() {
				s := all.At(i)
				mangled := all.Name(s)
				if (strings.HasPrefix(mangled, "_Z") || strings.HasPrefix(mangled, "_R")) && strings.Contains(mangled, last) && symbol.Demangle(mangled) == name {
					several = several || ok && f.Addr != s.Addr+bias
					f, ok = value.Symbol{Addr: s.Addr + bias, Function: true}, true
				}
			}
		}
		if ok {
			break
		}
	}
	return f, several, ok
}

func (c *Caller) debugFile(m *target.Module) *elfimage.Image {
	if c.Symbols == nil {
		return nil
	}
	return c.Symbols.DebugFile(m)
}
