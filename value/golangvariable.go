package value

import (
	"debug/dwarf"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// goEscaped returns the variable that a pointer of Go's compiler points to: a variable that is on
// the heap has a pointer to it as its entry, with an ampersand before the name.
func (v *Variable) goEscaped() (name string, is bool) {
	if len(v.Name) < 2 || v.Name[0] != '&' || v.Type == nil || v.Type.Language() != "go" || v.Type.Strip().Kind != Pointer {
		return v.Name, false
	}
	return v.Name[1:], true
}

// Parametric gives a value whose type is a parameter of a generic function the type that the
// function was called with: the function's dictionary has it.
func (v *Value) Parametric() {
	if v.Type.entry == nil || v.frame == nil {
		return
	}
	index, ok := v.Type.entry.Constant(dwarfdata.AttrGoDictionary)
	if !ok || index > 1<<16 {
		return
	}
	dict, ok := v.frame.goDictionary()
	if !ok {
		return
	}
	size := uint64(v.Type.r.Arch.PtrSize)
	b := make([]byte, size)
	if v.ReadMemory(dict+index*size, b) != nil {
		return
	}
	t, _ := v.goDynamic(number(b, v.Type.ByteOrder() == bigEndian))
	if t == nil {
		return
	}
	was, ok1 := v.Type.SizeOf()
	if is, ok := t.SizeOf(); ok && ok1 && is == was {
		v.Type = t
	}
}

// HideDictionary leaves out of the arguments what Go's compiler has added to a generic function's:
// its dictionary. As Delve, users do not know it.
func (f *Frame) HideDictionary() {
	if f.Language == "go" {
		f.Arguments = slices.DeleteFunc(f.Arguments, func(v Variable) bool { return v.Name == ".dict" })
	}
}

// goDictionary returns the address of the dictionary of a generic function.
func (c *context) goDictionary() (uint64, bool) {
	var found *symbol.Entry
	for _, s := range c.scopes.list {
		for _, e := range s.Entries {
			if e.Text(dwarf.AttrName) == ".dict" {
				found = e
			}
		}
	}
	if found == nil || c.nested >= maxNested {
		return 0, false
	}
	v := c.inner().locate(found, c.r.typeOf(found), nil)
	n, err := v.Uint()
	return n, err == nil && n != 0
}
