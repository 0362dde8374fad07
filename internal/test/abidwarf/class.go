package abidwarf

import (
	"debug/dwarf"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
)

// DW_CC_pass_by_reference and DW_CC_pass_by_value (DWARF 5, 7.15), which clang writes.
const (
	passByReference = 4
	passByValue     = 5
)

// inClass is DW_DEFAULTED_in_class: the compiler makes the method.
const inClass = 1

// byReference reports whether a class is not trivial for the purposes of calls (Itanium C++ ABI,
// 1.1): e tells, or else what children declares. t has the members.
func (r *Reader) byReference(e *dwarf.Entry, t *abi.Type, children []*dwarf.Entry) bool {
	switch number(e, dwarf.AttrCalling) {
	case passByReference:
		return true
	case passByValue:
		return false
	}
	for _, m := range t.Members {
		part := m.Type
		for part.Kind == abi.Array {
			part = part.Elem
		}
		if part.ByReference {
			return true
		}
	}
	class, _ := e.Val(dwarf.AttrName).(string)
	class, _, _ = strings.Cut(class, "<")
	copies, deleted := 0, 0
	for _, child := range children {
		switch child.Tag {
		case dwarf.TagSubprogram, dwarf.TagInheritance:
		default:
			continue
		}
		if number(child, dwarf.AttrVirtuality) != 0 {
			return true
		}
		method, _ := child.Val(dwarf.AttrName).(string)
		method, _, _ = strings.Cut(method, "<")
		copying := child.Tag == dwarf.TagSubprogram && method == class && class != "" && r.copies(child, e.Offset)
		switch {
		case !copying && (child.Tag != dwarf.TagSubprogram || !strings.HasPrefix(method, "~")):
			continue
		case copying:
			copies++
		}
		if gone, _ := child.Val(dwarf.AttrDeleted).(bool); gone {
			deleted++
			continue
		}
		if implicit, _ := child.Val(dwarf.AttrArtificial).(bool); !implicit && number(child, dwarf.AttrDefaulted) != inClass {
			return true
		}
	}
	return copies > 0 && copies == deleted
}

// copies reports whether a constructor copies or moves a class: after the object, it takes a
// reference to one.
func (r *Reader) copies(constructor *dwarf.Entry, class dwarf.Offset) bool {
	_, children, err := r.read(constructor.Offset)
	if err != nil {
		return false
	}
	n := 0
	for _, p := range children {
		if p.Tag != dwarf.TagFormalParameter {
			continue
		}
		if object, _ := p.Val(dwarf.AttrArtificial).(bool); object {
			continue
		}
		if n++; n > 1 || !r.refers(p, class) {
			return false
		}
	}
	return n == 1
}

// refers reports whether a parameter is a reference to a class.
func (r *Reader) refers(p *dwarf.Entry, class dwarf.Offset) bool {
	reference := false
	for range maxChain {
		off, ok := p.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok || off == class {
			return ok && reference
		}
		above, err := r.entry(off)
		if err != nil {
			return false
		}
		switch above.Tag {
		case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
			reference = true
		case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagTypedef:
		default:
			return false
		}
		p = above
	}
	return false
}
