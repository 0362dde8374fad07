package calling

import (
	"debug/elf"
	"maps"
	"slices"
	"strconv"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// remapper is a process whose modules stay as they were until it is asked for them anew.
type remapper interface{ Remap() error }

// Symbol returns the symbol of a name; nil if the process has none.
func (c *Caller) Symbol(name string) *value.Symbol {
	s, ok := c.find(name)
	if again, can := c.Process.(remapper); !ok && can && again.Remap() == nil {
		s, ok = c.find(name)
	}
	if !ok {
		return nil
	}
	return &s
}

// maxNamesakes bounds the symbols of one name in a module.
const maxNamesakes = 16

// found is what a name was found to be.
type found struct {
	value.Symbol
	ok bool
}

// find finds a symbol by its name: in the program, then in the libraries. C++ functions of the
// program may have the name of a library's symbol.
func (c *Caller) find(name string) (f value.Symbol, ok bool) {
	order := c.inOrder(c.Process.Modules())
	x, known := c.known[name]
	if !known {
		for _, m := range order {
			if x.Symbol, x.ok = c.findIn(m, name); x.ok {
				break
			}
		}
		is := func(whole string) bool { return whole == name }
		switch {
		case len(name) < 2:
		case !x.ok:
			if x.Symbol, x.ok = c.findDemangled(order, name, is); x.Several {
				x.Addr = 0
			}
		case x.Function && order[0].Path == c.Exe && isCXX(order):
			if im, _, err := order[0].PeekImage(); err == nil {
				x.Several = hasMangled(name, im, c.debugFile(order[0]))
			}
		}
		c.known[name] = x
	}
	return x.Symbol, x.ok
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

// hasMangled reports whether images have a C++ function of a name without template arguments.
func hasMangled(name string, images ...*elfimage.Image) bool {
	parts := strings.Split(name, "::")
	mangled := "_Z"
	if len(parts) > 1 {
		mangled = "_ZN"
	}
	for _, part := range parts {
		mangled += strconv.Itoa(len(part)) + part
	}
	return slices.ContainsFunc(images, func(im *elfimage.Image) bool {
		return im != nil && len(im.LookupPrefix(mangled, 1)) > 0
	})
}

// isCXX reports whether a process has C++'s library, or may have it within the program.
func isCXX(modules []*target.Module) bool {
	return len(modules) < 3 || slices.ContainsFunc(modules, func(m *target.Module) bool {
		return strings.Contains(m.Path, "/libstdc++.") || strings.Contains(m.Path, "/libc++.")
	})
}

// findDemangled finds a function by the name that a user reads, a::b: by the end of it, and what is
// says of the whole name. A function of a module hides the same one of a later module, and in Rust
// each of its name.
func (c *Caller) findDemangled(modules []*target.Module, name string, is func(whole string) bool) (f value.Symbol, ok bool) {
	last := name[strings.LastIndexByte(name, ':')+1:]
	seen := map[string]bool{} // what earlier modules have
	rust := func(mangled string) bool { return mangled[1] == 'R' || strings.Contains(mangled, "17h") }
	for _, m := range modules {
		im, bias, err := m.PeekImage()
		if err != nil || im == nil {
			continue
		}
		own := map[string]bool{}
		images := []*elfimage.Image{im}
		if ok { // of a later module, what it exports is enough
			if !hasMangled(name, im) {
				continue
			}
		} else if debug := c.debugFile(m); debug != nil {
			images = append(images, debug)
		}
		for _, image := range images {
			all := image.Symbols()
			for i := range all.Len() {
				s := all.At(i)
				mangled := all.Name(s)
				if !strings.HasPrefix(mangled, "_Z") && !strings.HasPrefix(mangled, "_R") || !strings.Contains(mangled, last) ||
					seen[mangled] || len(seen) > 0 && rust(mangled) || !is(symbol.Demangle(mangled)) {
					continue
				}
				own[mangled] = true
				f.Several = f.Several || ok && f.Addr != s.Addr+bias
				if !ok {
					f.Addr, f.Function, ok = s.Addr+bias, true, true
				}
			}
		}
		maps.Copy(seen, own)
	}
	return f, ok
}

func (c *Caller) debugFile(m *target.Module) *elfimage.Image {
	if c.Symbols == nil {
		return nil
	}
	return c.Symbols.DebugFile(m)
}
