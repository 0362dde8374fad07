package libstdcxx

import (
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// pointerIterator writes an iterator that is a pointer to an element: of a vector, a string, or a
// deque.
func pointerIterator(o object) *value.Shown {
	name, of := "_M_current", "std::vector"
	if _, ok := cxx.Member(o.V, name); !ok {
		name, of = "_M_cur", "std::deque"
	}
	at, elem, ok := o.PointerTo(name)
	if !ok {
		return nil
	}
	if at == 0 {
		return cxx.NotDereferenceable(of)
	}
	return o.Dereferenced(o.At(elem, at))
}

// listIterator writes an iterator of a std::list or std::forward_list.
func listIterator(o object) *value.Shown {
	at, _, ok := o.PointerTo("_M_node")
	elem := o.T.Argument(0)
	if !ok || elem == nil {
		return nil
	}
	of, offset := "std::list", cxx.AlignUp(2*o.PtrSize(), elem.Alignment(false))
	if o.T.Name[:4] == "_Fwd" {
		of, offset = "std::forward_list", cxx.AlignUp(o.PtrSize(), elem.Alignment(true))
	}
	if at == 0 {
		return cxx.NotDereferenceable(of)
	}
	return o.InNode(o.At(elem, at+offset), at)
}

// treeIterator writes an iterator of a std::map or std::set.
func treeIterator(o object) *value.Shown {
	at, _, ok := o.PointerTo("_M_node")
	elem := o.T.Argument(0)
	if !ok || elem == nil {
		return nil
	}
	if at == 0 {
		return cxx.NotDereferenceable("associative container")
	}
	return o.InNode(o.At(elem, at+cxx.AlignUp(treeWords*o.PtrSize(), elem.Alignment(false))), at)
}

// slistIterator writes an iterator of a __gnu_cxx::slist.
func slistIterator(o object) *value.Shown {
	at, _, ok := o.PointerTo("_M_node")
	elem := o.T.Argument(0)
	if !ok || elem == nil {
		return nil
	}
	if at == 0 {
		return cxx.NotDereferenceable("__gnu_cxx::slist")
	}
	return o.InNode(o.At(elem, at+cxx.AlignUp(o.PtrSize(), elem.Alignment(false))), at)
}

// bitIterator writes an iterator of a std::vector<bool>, or a reference to a bit.
func bitIterator(o object) *value.Shown {
	at, word, ok := o.PointerTo("_M_p")
	mask, reference := o.Number("_M_mask")
	if !ok {
		return nil
	}
	if !reference {
		bit, ok := o.Number("_M_offset")
		if !ok {
			return nil
		}
		mask = 1 << uint64(bit)
	}
	return o.BitAt(at, word, uint64(mask), reference)
}

// debugIterator writes an iterator of debug mode as the one that it is derived from, if its
// container still knows it.
func debugIterator(o object) *value.Shown {
	of := o.T.Argument(0)
	sequence, base, ok := o.PointerTo("_M_sequence")
	version, ok2 := o.Number("_M_version")
	if of == nil || !ok || !ok2 {
		return nil
	}
	if sequence != 0 {
		s := o.At(base, sequence)
		m, ok := s.Member("_M_version")
		if !ok {
			return nil
		}
		n, err := m.Int()
		if err != nil {
			return &value.Shown{Err: err}
		}
		if n != version {
			return &value.Shown{Text: "invalid iterator"}
		}
	}
	for i := 0; ; i++ {
		b, ok := cxx.Base(o.V, i)
		if !ok {
			return nil
		}
		if b.Type.Strip() == of.Strip() {
			return o.Dereferenced(b)
		}
	}
}
