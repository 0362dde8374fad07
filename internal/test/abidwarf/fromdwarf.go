package abidwarf

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
)

// Reader makes types from the debug information of one file, each once. It is not safe for use by
// several goroutines.
type Reader struct {
	data    *dwarf.Data
	entries *dwarf.Reader
	// longDouble is the kind of a floating-point number of 16 bytes, or of 12.
	longDouble abi.Kind
	types      map[dwarf.Offset]*abi.Type // nil while the type is being read
	pointer    *abi.Type
	depth      int
}

const (
	// maxDepth is how deep types may be nested, typedefs and qualifiers counted.
	maxDepth = 256
	// maxChain is how many entries may lead to the one that has an attribute.
	maxChain = 16
)

// NewReader returns a Reader of data. longDouble is the kind of C's long double on the processor,
// and pointer the size of its pointers in bytes: arch.Arch tells.
func NewReader(data *dwarf.Data, longDouble abi.Kind, pointer int) *Reader {
	return &Reader{
		data: data, entries: data.Reader(), longDouble: longDouble,
		types: map[dwarf.Offset]*abi.Type{}, pointer: &abi.Type{Kind: abi.Pointer, Size: uint64(pointer)},
	}
}

// Func returns the type of the function whose entry, a DW_TAG_subprogram or DW_TAG_subroutine_type,
// is at offset off. unit is the unit that it is in: only C has functions without a prototype. DWARF
// does not tell which vectors the function takes in registers.
func (r *Reader) Func(off dwarf.Offset, unit *dwarf.Entry) (*abi.Func, error) {
	e, children, err := r.read(off)
	if err != nil {
		return nil, err
	}
	// An instance, out of line, of an inlined function or a method has its result there.
	for range maxChain {
		origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			origin, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if e.Val(dwarf.AttrType) != nil || !ok {
			break
		}
		above, more, err := r.read(origin)
		if err != nil {
			return nil, err
		}
		if len(children) == 0 {
			children = more
		}
		e = above
	}
	prototyped, _ := e.Val(dwarf.AttrPrototyped).(bool)
	f := &abi.Func{Unprototyped: !prototyped && isC(unit)}
	if f.Result, err = r.valueOf(e); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	for _, child := range children {
		switch child.Tag {
		case dwarf.TagUnspecifiedParameters:
			f.Variadic = true
		case dwarf.TagFormalParameter:
			t, err := r.parameter(child)
			if err != nil {
				return nil, fmt.Errorf("parameter %d: %w", len(f.Params)+1, err)
			}
			f.Params = append(f.Params, t)
		}
	}
	return f, nil
}

// Type returns the type whose entry is at offset off.
func (r *Reader) Type(off dwarf.Offset) (*abi.Type, error) {
	t, seen := r.types[off]
	if t != nil {
		return t, nil
	}
	if seen || r.depth >= maxDepth {
		return nil, fmt.Errorf("type at offset %#x of .debug_info contains itself, or is nested too deep", off)
	}
	r.types[off] = nil
	r.depth++
	t, err := r.make(off)
	r.depth--
	if err != nil {
		delete(r.types, off)
		return nil, err
	}
	r.types[off] = t
	return t, nil
}

// valueOf returns the type that an entry refers to; void where it refers to none.
func (r *Reader) valueOf(e *dwarf.Entry) (*abi.Type, error) {
	switch off := e.Val(dwarf.AttrType).(type) {
	case nil:
		return &abi.Type{}, nil
	case dwarf.Offset:
		return r.Type(off)
	}
	return nil, fmt.Errorf("%s at offset %#x of .debug_info has its type in another unit, which is not read", e.Tag, e.Offset)
}

// parameter returns the type of a parameter, which may have it from its abstract origin.
func (r *Reader) parameter(e *dwarf.Entry) (*abi.Type, error) {
	for range maxChain {
		origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if e.Val(dwarf.AttrType) != nil || !ok {
			break
		}
		above, err := r.entry(origin)
		if err != nil {
			return nil, err
		}
		e = above
	}
	return r.valueOf(e)
}

// entry returns the entry at offset off; its children are next.
func (r *Reader) entry(off dwarf.Offset) (*dwarf.Entry, error) {
	r.entries.Seek(off)
	e, err := r.entries.Next()
	if err != nil {
		return nil, fmt.Errorf("entry at offset %#x of .debug_info: %w", off, err)
	}
	if e == nil || e.Tag == 0 {
		return nil, fmt.Errorf("no entry is at offset %#x of .debug_info", off)
	}
	return e, nil
}

// read returns an entry and its children.
func (r *Reader) read(off dwarf.Offset) (e *dwarf.Entry, children []*dwarf.Entry, err error) {
	e, err = r.entry(off)
	if err != nil || !e.Children {
		return e, nil, err
	}
	for {
		child, err := r.entries.Next()
		if err != nil {
			return nil, nil, err
		}
		if child == nil || child.Tag == 0 {
			return e, children, nil
		}
		children = append(children, child)
		if child.Children {
			r.entries.SkipChildren()
		}
	}
}

// isC reports whether a unit's language is C.
func isC(unit *dwarf.Entry) bool {
	switch number(unit, dwarf.AttrLanguage) {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c: // DW_LANG_C89, C, C99, C11, C17
		return true
	}
	return false
}

// name returns the name of an entry, in small letters.
func name(e *dwarf.Entry) string {
	s, _ := e.Val(dwarf.AttrName).(string)
	return strings.ToLower(s)
}
