package value

import (
	"cmp"
	"debug/dwarf"
	"strconv"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// memberPointer writes C++'s pointer to a member that is no method.
func (w *Writer) memberPointer(v *Value, t *Type) {
	n, _ := v.Int()
	if n == -1 || v.Type.Strip().Size == 4 && int32(n) == -1 {
		w.Put("NULL")
		return
	}
	if name := memberAt(t.Class, n); name != "" {
		w.Put("&" + name)
		return
	}
	w.Put(strconv.FormatInt(n, 10))
}

// memberAt returns the name of the member that a class, or a base of it, has at an offset; "" if
// there is none.
func memberAt(class *Type, offset int64) string {
	for range maxBases {
		if class == nil {
			return ""
		}
		class = class.Strip()
		var base *Field
		fields := class.Fields()
		for i := range fields {
			switch f := &fields[i]; {
			case f.Static:
			case !f.Base && f.Offset == offset:
				return class.FullName() + "::" + f.Name
			case f.Base && !f.Virtual && base == nil:
				if n, _ := f.Type.SizeOf(); offset >= f.Offset && offset < f.Offset+int64(n) {
					base = f
				}
			}
		}
		if base == nil {
			break
		}
		class, offset = base.Type, offset-base.Offset
	}
	return ""
}

// isMethodPointer reports whether a type is C++'s pointer to a method.
func (t *Type) isMethodPointer() bool {
	return t.Kind == MemberPointer && t.Elem().Strip().Kind == Function
}

// methodPointer writes a pointer to a method as the Itanium ABI has it: an address, or an offset in
// the table of virtual functions plus 1; and what to add to this. On arm64, the 1 is in the second
// word. Optimised code may have the first word alone: what it leads to is then said as for an
// object that needs no adjustment.
func (w *Writer) methodPointer(v *Value, t *Type) {
	n, _ := t.SizeOf()
	size := n / 2
	function, adjustment := v.part(t, 0, size), v.part(t, int64(size), size)
	first, err := function.Bytes()
	second, unknown := adjustment.Bytes()
	if err == nil && t.r.Arch.VirtualInAdjustment {
		err = unknown
	}
	if err != nil || size == 0 {
		w.Absent(cmp.Or(err, ErrUnavailable))
		return
	}
	big := v.Type.ByteOrder() == bigEndian
	ptr, adjust := number(first, big), int64(number(second, big))
	virtual := ptr&1 != 0
	if t.r.Arch.VirtualInAdjustment {
		virtual = adjust&1 != 0
		adjust >>= 1
	} else if virtual {
		ptr--
	}
	if !virtual && ptr == 0 {
		w.Put("NULL")
		return
	}
	name := ""
	if virtual {
		name = t.virtualMethod(int64(ptr/size), adjust)
	}
	switch {
	case name != "":
		w.Put("&virtual " + name)
	case virtual:
		w.Put("&virtual table offset " + strconv.FormatUint(ptr, 10))
	default: // GDB has the type before a method
		w.Put("(" + t.String() + ") ")
		w.Address(v, ptr)
	}
	switch {
	case unknown != nil:
		w.Put(", this adjustment ")
		w.Absent(unknown)
	case adjust != 0 && name == "":
		w.Put(", this adjustment " + strconv.FormatInt(adjust, 10))
	}
}

// virtualMethod returns the name, with parameters, of the method at an index of the table of
// virtual functions of the class of a pointer to methods, adjust bytes behind the beginning of its
// objects; "" if there is none.
func (t *Type) virtualMethod(index, adjust int64) string {
	class := t.Class
	for range maxBases {
		if class == nil {
			return ""
		}
		class = class.Strip()
		if class.entry == nil {
			return ""
		}
		if adjust == 0 {
			if name := class.methodAt(index); name != "" {
				return symbol.NewDemangler(demangleSteps).Name(name)
			}
		}
		fields := class.Fields()
		class = nil
		for i := range fields {
			f := &fields[i]
			if n, _ := f.Type.SizeOf(); f.Base && !f.Virtual && adjust >= f.Offset && adjust < f.Offset+int64(n) {
				class, adjust = f.Type, adjust-f.Offset
				break
			}
		}
	}
	return ""
}

const demangleSteps = 1 << 16

// methodAt returns the linkage name of the method that a class has at an index of its table.
func (t *Type) methodAt(index int64) string {
	list, err := t.entry.Children()
	if err != nil {
		return ""
	}
	for _, e := range list {
		if e.Tag != dwarf.TagSubprogram || !e.Has(dwarf.AttrVtableElemLoc) {
			continue
		}
		b := e.Block(dwarf.AttrVtableElemLoc)
		if len(b) < 2 || b[0] != dwarfdata.OpConstu {
			continue
		}
		r := dwarfdata.New(b[1:], t.r.order())
		if n := r.ULEB128(); !r.Bad && !r.More() && int64(n) == index {
			return linkageName(e)
		}
	}
	return ""
}

// resultLength returns how long the type of the result is, with the blank behind it, that stands
// before the name of a function that is made of a template; 0 if none does.
func resultLength(name string) int {
	depth, blank := 0, 0
	for i := range len(name) {
		switch name[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && !strings.HasPrefix(name[i:], "(anonymous namespace)") {
				if i == 0 || name[i-1] != '>' {
					return 0
				}
				return blank
			}
			depth++
		case ')':
			depth--
		case ' ':
			if depth == 0 {
				if strings.HasSuffix(name[:i], "operator") {
					return blank
				}
				blank = i + 1
			}
		}
	}
	return 0
}
