package value

import (
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// rustBasics are the types of Rust that need no declaration (The Rust Reference, section "Types"):
// kind, and size in bytes; 0 stands for the size of a pointer.
var rustBasics = map[string]struct {
	kind Kind
	size uint64
}{
	"bool": {Bool, 1}, "char": {Char, 4}, "f32": {Float, 4}, "f64": {Float, 8},
	"i8": {Integer, 1}, "i16": {Integer, 2}, "i32": {Integer, 4}, "i64": {Integer, 8}, "i128": {Integer, 16}, "isize": {Integer, 0},
	"u8": {Integer, 1}, "u16": {Integer, 2}, "u32": {Integer, 4}, "u64": {Integer, 8}, "u128": {Integer, 16}, "usize": {Integer, 0},
}

// rustBasic returns one of these types; nil if there is none of the name.
func (r *Reader) rustBasic(name string) *Type {
	of, ok := rustBasics[name]
	if !ok {
		return nil
	}
	key := "rust " + name
	if t := r.basics[key]; t != nil {
		return t
	}
	t := &Type{Name: name, Kind: of.kind, Size: of.size, Order: r.order(), r: r, elemRead: true, language: "rust"}
	if t.Size == 0 {
		t.Size = uint64(r.Arch.PtrSize)
	}
	switch t.Signed = strings.HasPrefix(name, "i"); {
	case t.Kind == Bool:
		t.Encoding = dwarfdata.ATEBoolean
	case t.Kind == Float:
		t.Encoding = dwarfdata.ATEFloat
	case t.Kind == Char:
		t.Encoding = dwarfdata.ATEUTF
	case t.Signed:
		t.Encoding = dwarfdata.ATESigned
	default:
		t.Encoding = dwarfdata.ATEUnsigned
	}
	if r.basics == nil {
		r.basics = make(map[string]*Type)
	}
	r.basics[key] = t
	return t
}
