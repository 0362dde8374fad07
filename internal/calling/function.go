package calling

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/abi/fromdwarf"
	"github.com/sfwalk/sfwalk/elfimage"
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

// function is what is known of a function.
type function struct {
	abi    *abi.Func
	result dwarf.Type // nil if there is none, or if it is not known
	// method says that the first parameter is the object. A virtual one is in a slot of its class's table; -1 if it is not known
	// in which.
	method, virtual bool
	slot            int
	refs            []*abi.Type // by parameter: what a reference refers to; nil for others
	// producer is what the compiler has recorded of itself.
	producer string
}

// refers returns what the i-th parameter refers to, if it is a reference of C++; else nil.
func (f *function) refers(i int) *abi.Type {
	if i >= len(f.refs) {
		return nil
	}
	return f.refs[i]
}

// describe returns the type of the function at an address; nil if no DWARF tells.
func (e *Evaluator) describe(addr uint64) *function {
	if e.Symbols == nil {
		return nil
	}
	at, ok := e.Symbols.FunctionEntry(e.Process.Modules(), addr)
	if !ok {
		return nil
	}
	unit := &types{at.Data, fromdwarf.NewReader(at.Data, e.Process.Arch().LongDouble, e.Process.Arch().PtrSize)}
	if f := unit.function(at.Function, at.Unit); f != nil {
		return f
	}
	// The unit refers to others.
	all := e.types(at.Image)
	if all == nil {
		return nil
	}
	return all.function(dwarf.Offset(at.Start)+at.Function, dwarf.Offset(at.Start)+at.Unit)
}

// types are the types of one file.
type types struct {
	data   *dwarf.Data
	reader *fromdwarf.Reader
}

// types returns the types of a file, nil if it has none that can be read.
func (e *Evaluator) types(im *elfimage.Image) *types {
	if t, ok := e.files[im]; ok {
		return t
	}
	var t *types
	if data, err := readDWARF(im); err == nil {
		t = &types{data, fromdwarf.NewReader(data, e.Process.Arch().LongDouble, e.Process.Arch().PtrSize)}
	}
	e.files[im] = t
	return t
}

func readDWARF(im *elfimage.Image) (data *dwarf.Data, err error) {
	defer func() {
		if r := recover(); r != nil { // of debug/dwarf, by a broken file
			err = fmt.Errorf("read DWARF: %v", r)
		}
	}()
	section := func(name string) []byte {
		b, _, _ := im.Section(".debug_"+name, ".zdebug_"+name)
		return b
	}
	data, err = dwarf.New(section("abbrev"), nil, nil, section("info"), section("line"), nil, section("ranges"), section("str"))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if b := section(name); b != nil {
			if err := data.AddSection(".debug_"+name, b); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// function reads the type of a function. It is nil if the DWARF refers to another file, or is broken.
func (t *types) function(off, unit dwarf.Offset) (f *function) {
	defer func() {
		if recover() != nil {
			f = nil
		}
	}()
	r := t.data.Reader()
	r.Seek(unit)
	unitEntry, err := r.Next()
	if err != nil || unitEntry == nil {
		return nil
	}
	of, err := t.reader.Func(off, unitEntry)
	if err != nil {
		return nil
	}
	f = &function{abi: of, refs: t.references(off), slot: -1}
	t.asMethod(f, off)
	f.producer, _ = unitEntry.Val(dwarf.AttrProducer).(string)
	for range 16 {
		r.Seek(off)
		entry, err := r.Next()
		if err != nil || entry == nil {
			return f
		}
		if at, ok := entry.Val(dwarf.AttrType).(dwarf.Offset); ok {
			f.result, _ = t.data.Type(at)
			return f
		}
		next, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if next, ok = entry.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return f
			}
		}
		off = next
	}
	return f
}

// references returns what the parameters of the function at an offset refer to: nil for each that is no reference.
func (t *types) references(off dwarf.Offset) (list []*abi.Type) {
	r := t.data.Reader()
	for range 16 {
		r.Seek(off)
		e, err := r.Next()
		if err != nil || e == nil {
			return nil
		}
		found := false
		for e.Children {
			p, err := r.Next()
			if err != nil || p == nil || p.Tag == 0 {
				break
			}
			if p.Children {
				r.SkipChildren()
			}
			if p.Tag == dwarf.TagFormalParameter {
				found = true
				list = append(list, t.referent(p.Offset))
			}
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if found || !ok {
			return list
		}
		off = next
	}
	return list
}

// referent returns what the reference refers to that the entry at an offset is or has for its type; nil if it is none.
func (t *types) referent(off dwarf.Offset) *abi.Type {
	r := t.data.Reader()
	for range 16 {
		r.Seek(off)
		e, err := r.Next()
		if err != nil || e == nil {
			return nil
		}
		to, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			if to, ok = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); !ok {
				return nil
			}
		}
		switch e.Tag {
		case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
			of, err := t.reader.Type(to)
			if err != nil {
				return &abi.Type{Kind: abi.Struct} // of a size that no argument has
			}
			return of
		case dwarf.TagFormalParameter, dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType:
		default:
			return nil
		}
		off = to
	}
	return nil
}

// asMethod fills in what makes a function a method.
func (t *types) asMethod(f *function, off dwarf.Offset) {
	const constu = 0x10
	r := t.data.Reader()
	for range 16 {
		r.Seek(off)
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		if n, ok := e.Val(dwarf.AttrVirtuality).(int64); ok && n != 0 {
			f.virtual = true
		}
		if code, ok := e.Val(dwarf.AttrVtableElemLoc).([]byte); ok && len(code) == 2 && code[0] == constu && code[1] < 0x80 {
			f.slot = int(code[1])
		}
		if e.Val(dwarf.AttrObjectPointer) != nil {
			f.method = true
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return
			}
		}
		off = next
	}
}
