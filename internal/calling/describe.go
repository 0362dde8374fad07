package calling

import (
	"debug/dwarf"
	"fmt"
	"iter"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/abi/fromdwarf"
	"github.com/sfwalk/sfwalk/format/elf"
)

// function is what is known of a function.
type function struct {
	abi    *abi.Func
	result dwarf.Type // nil if there is none, or if it is not known
	// method says that the first parameter is the object. A virtual one is in a slot of its class's table; -1 if it
	// is not known in which.
	method, virtual bool
	slot            int
	refs            []*abi.Type // by parameter: what a reference refers to; nil for others
	// producer is what the compiler has recorded of itself, size how many bytes of code the function has from its entry
	// on; 0 if that is not known.
	producer string
	size     uint64
}

// refers returns what the i-th parameter refers to, if it is a reference of C++; else nil.
func (f *function) refers(i int) *abi.Type {
	if f == nil || i >= len(f.refs) {
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
func (e *Evaluator) types(im *elf.Image) *types {
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

func readDWARF(im *elf.Image) (data *dwarf.Data, err error) {
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
	f.size = t.size(off)
	for e := range t.entries(off) {
		if at, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
			f.result, _ = t.data.Type(at)
			break
		}
	}
	return f
}

// size returns how many bytes of code the function has whose entry is at an offset; 0 if that is not known.
func (t *types) size(off dwarf.Offset) uint64 {
	for e := range t.entries(off) {
		if ranges, err := t.data.Ranges(e); err == nil && len(ranges) > 0 {
			return ranges[0][1] - ranges[0][0]
		}
		break
	}
	return 0
}

// maxEntries bounds the entries that are followed for one function or type.
const maxEntries = 16

// entries yields the entry of a function at an offset, then the entry that it is an instance or the definition of
// (DW_AT_abstract_origin, DW_AT_specification), and so on. The reader is behind the entry, at its first child if it
// has any.
func (t *types) entries(off dwarf.Offset) iter.Seq2[*dwarf.Entry, *dwarf.Reader] {
	return func(yield func(*dwarf.Entry, *dwarf.Reader) bool) {
		r := t.data.Reader()
		for range maxEntries {
			r.Seek(off)
			e, err := r.Next()
			if err != nil || e == nil || !yield(e, r) {
				return
			}
			next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			if !ok {
				next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
			}
			if !ok {
				return
			}
			off = next
		}
	}
}

// references returns what the parameters of the function at an offset refer to: nil for each that is no reference.
func (t *types) references(off dwarf.Offset) (list []*abi.Type) {
	for e, r := range t.entries(off) {
		for e.Children {
			p, err := r.Next()
			if err != nil || p == nil || p.Tag == 0 {
				break
			}
			if p.Children {
				r.SkipChildren()
			}
			if p.Tag == dwarf.TagFormalParameter {
				list = append(list, t.referent(p.Offset))
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// referent returns what the reference refers to that the entry at an offset is or has for its type; nil if it is none.
func (t *types) referent(off dwarf.Offset) *abi.Type {
	r := t.data.Reader()
	for range maxEntries {
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
	const constu = 0x10 // DW_OP_constu
	for e := range t.entries(off) {
		if n, ok := e.Val(dwarf.AttrVirtuality).(int64); ok && n != 0 {
			f.virtual = true
		}
		loc, _ := e.Val(dwarf.AttrVtableElemLoc).([]byte)
		if len(loc) == 2 && loc[0] == constu && loc[1] < 0x80 {
			f.slot = int(loc[1])
		}
		if e.Val(dwarf.AttrObjectPointer) != nil {
			f.method = true
		}
	}
}
