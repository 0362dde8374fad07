package libstdcxx

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// optional writes a std::optional.
func optional(o object) *value.Shown {
	of := o.T.Argument(0)
	if of == nil {
		return nil
	}
	name := strings.Replace(o.Name, "fundamentals_v1::", "", 1) + "<" + o.ShortName(of) + ">"
	names := []string{"_M_payload", "_M_engaged"}
	if strings.HasPrefix(name, "std::experimental") {
		names = names[1:]
	}
	engaged, ok := o.Number(names...)
	if !ok {
		return nil
	}
	if engaged == 0 {
		return &value.Shown{Text: name + " [no contained value]", Children: cxx.Nothing}
	}
	for _, names := range optionalValues {
		v, ok := cxx.Member(o.V, names...)
		if !ok {
			continue
		}
		return o.Contained(&v, value.ByName, func(container string, is bool) string {
			if is {
				return name + " containing " + container
			}
			return name
		})
	}
	return nil
}

// optionalValues are where the value of a std::optional is, of several releases.
var optionalValues = [...][]string{{"_M_payload", "_M_payload", "_M_value"}, {"_M_payload", "_M_payload"}, {"_M_payload"}}

// variantObject writes a std::variant.
func variantObject(o object) *value.Shown {
	m, ok := cxx.Member(o.V, "_M_index")
	n, err := m.Uint()
	storage, ok2 := o.V.Member("_M_u")
	if !ok || !ok2 || err != nil {
		return nil
	}
	return o.Variant(n, &storage)
}

// anyObject writes a std::any. The function that manages its object is a member of a class with the
// object's type.
func anyObject(o object) *value.Shown {
	name := strings.Replace(o.Name, "fundamentals_v1::", "", 1)
	manager, _, ok := o.PointerTo("_M_manager")
	if !ok {
		return nil
	}
	if manager == 0 {
		return &value.Shown{Text: name + " [no contained value]", Children: cxx.Nothing}
	}
	of, external := managed(o.T.Reader(), manager)
	if of == nil {
		return nil
	}
	var v value.Value
	if external {
		at, _, ok := o.PointerTo("_M_storage", "_M_ptr")
		if !ok {
			return nil
		}
		v = o.At(of, at)
	} else {
		buffer, ok := cxx.Member(o.V, "_M_storage", "_M_buffer")
		if !ok {
			return nil
		}
		v = buffer.Part(of, 0)
	}
	return o.Contained(&v, value.ByName, func(container string, is bool) string {
		if is {
			return name + " containing " + container
		}
		return name + " containing " + o.ShortName(of)
	})
}

// managed returns the type of the objects that a function of a std::any manages, and whether they
// lie outside of the std::any. It is nil if the function is none. Each such function has a pointer
// to the object, by which its type is known.
func managed(r *value.Reader, pc uint64) (of *value.Type, external bool) {
	code, ok := r.CodeAt(pc)
	switch {
	case !ok:
		return nil, false
	case strings.Contains(code.Linkage, "17_Manager_external"):
		external = true
	case !strings.Contains(code.Linkage, "17_Manager_internal"):
		return nil, false
	}
	for _, x := range code.Variables {
		if t := x.Type.Strip(); x.Name == "__ptr" && t.Kind == value.Pointer {
			return t.Elem().Unqualified(), external
		}
	}
	return nil, false
}

// nodeHandle writes the handle of a node that was taken out of a container.
func nodeHandle(o object) *value.Shown {
	key, elem, alloc := o.T.Argument(0), o.T.Argument(1), o.T.Argument(2)
	at, _, ok := o.PointerTo("_M_ptr")
	if !ok || key == nil || elem == nil || alloc == nil {
		return nil
	}
	if _, ok := cxx.Member(o.V, "_M_alloc", "_M_engaged"); !ok { // of newer releases than the printers know
		return nil
	}
	node := alloc.Strip().Argument(0)
	if node == nil {
		return nil
	}
	name, offset := "node handle for ", uint64(0)
	if node, _ := cxx.Template(node.Strip().FullName()); strings.HasSuffix(node, "::_Rb_tree_node") {
		offset = cxx.AlignUp(treeWords*o.PtrSize(), elem.Alignment(false))
	} else {
		name += "unordered "
		offset = cxx.AlignUp(o.PtrSize(), elem.Alignment(true))
	}
	if key.Strip() != elem.Strip() {
		name += "map"
	} else {
		name += "set"
	}
	return o.Handle(name, at, elem, at+offset)
}
