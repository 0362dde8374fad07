package calling

import (
	"debug/elf"
	"slices"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// found is a symbol of the process.
type found struct {
	addr     uint64
	function bool
	indirect bool // addr is the function that returns the address (STT_GNU_IFUNC)
}

// maxNamesakes bounds the symbols of one name in a module.
const maxNamesakes = 16

// find finds a symbol by its name: in the program, then in the libraries. several says that the name is that of several
// functions.
func (e *Evaluator) find(name string) (f found, several, ok bool) {
	modules := e.Process.Modules()
	order := e.inOrder(modules)
	if f, ok = e.known[name]; ok {
		return f, false, true
	}
	for _, m := range order {
		if f, ok = e.findIn(m, name); ok {
			e.known[name] = f
			return f, false, true
		}
	}
	if len(name) < 3 {
		return f, false, false
	}
	return e.findDemangled(modules, name)
}

// inOrder returns the modules in the order in which the dynamic linker looks names up: the program first, then
// the libraries of its link map. So a library that was preloaded is asked before the one whose functions it replaces.
func (e *Evaluator) inOrder(modules *target.Modules) []*target.Module {
	if e.ordered != nil && e.generation == modules.Generation {
		return e.ordered
	}
	list := slices.Clone(modules.All())
	rank := map[uint64]int{} // by load bias
	a := e.Process.Arch()
	objects, _ := linkmap.Read(e.Process.Memory(), a, linkmap.ParseAuxv(e.Auxv, a), nil)
	for i, o := range objects {
		if _, twice := rank[o.Bias]; !twice {
			rank[o.Bias] = i + 1
		}
	}
	place := func(m *target.Module) int {
		if m.Path == e.Exe {
			return 0
		}
		if _, bias, err := m.PeekImage(); err == nil && rank[bias] > 0 {
			return rank[bias]
		}
		return len(objects) + 1
	}
	slices.SortStableFunc(list, func(a, b *target.Module) int { return place(a) - place(b) })
	e.ordered, e.generation, e.known = list, modules.Generation, map[string]found{}
	return list
}

func (e *Evaluator) findIn(m *target.Module, name string) (f found, ok bool) {
	im, bias, err := m.PeekImage()
	if err != nil || im == nil {
		return f, false
	}
	var list []elfimage.Symbol
	if im.MayHaveSymbol(name) {
		list = im.Lookup(name, maxNamesakes)
	}
	if len(list) == 0 && e.Symbols != nil {
		if d := e.Symbols.DebugFile(m); d != nil && d.MayHaveSymbol(name) {
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
	f = found{addr: s.Addr + bias, function: s.Type == elf.STT_FUNC || s.Type == elf.STT_GNU_IFUNC, indirect: s.Type == elf.STT_GNU_IFUNC}
	if s.Type == elf.STT_NOTYPE {
		f.function = e.Process.Modules().IsCode(f.addr)
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
func (e *Evaluator) findDemangled(modules *target.Modules, name string) (f found, several, ok bool) {
	last := name[strings.LastIndexByte(name, ':')+1:]
	for _, m := range e.inOrder(modules) {
		im, bias, err := m.PeekImage()
		if err != nil || im == nil {
			continue
		}
		for _, image := range []*elfimage.Image{im, e.debugFile(m)} {
			if image == nil {
				continue
			}
			all := image.Symbols()
			for i := range all.Len() {
				s := all.At(i)
				mangled := all.Name(s)
				if (strings.HasPrefix(mangled, "_Z") || strings.HasPrefix(mangled, "_R")) && strings.Contains(mangled, last) && symbol.Demangle(mangled) == name {
					several = several || ok && f.addr != s.Addr+bias
					f, ok = found{addr: s.Addr + bias, function: true}, true
				}
			}
		}
		if ok {
			break
		}
	}
	return f, several, ok
}

func (e *Evaluator) debugFile(m *target.Module) *elfimage.Image {
	if e.Symbols == nil {
		return nil
	}
	return e.Symbols.DebugFile(m)
}
