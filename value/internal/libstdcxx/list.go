package libstdcxx

import (
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// listObject writes a std::list: a ring of nodes, in which the list itself is one.
func listObject(o object) *value.Shown {
	head, ok := cxx.Member(o.V, "_M_impl", "_M_node")
	elem := o.T.Argument(0)
	if !ok || elem == nil || head.Place != value.InMemory {
		return nil
	}
	next, ok := cxx.Member(&head, "_M_next")
	first, err := next.Uint()
	if !ok || err != nil {
		return nil
	}
	if first == head.Addr {
		return &value.Shown{Text: "empty " + o.Name, Children: cxx.Nothing}
	}
	return &value.Shown{Text: o.Name, Children: cxx.Numbered(o.Chain(elem, first, head.Addr, cxx.AlignUp(2*o.PtrSize(), elem.Alignment(false))))}
}

// forwardList writes a std::forward_list.
func forwardList(o object) *value.Shown {
	first, _, ok := o.PointerTo("_M_impl", "_M_head", "_M_next")
	elem := o.T.Argument(0)
	if !ok || elem == nil {
		return nil
	}
	if first == 0 {
		return &value.Shown{Text: "empty " + o.Name, Children: cxx.Nothing}
	}
	return &value.Shown{Text: o.Name, Children: cxx.Numbered(o.Chain(elem, first, 0, cxx.AlignUp(o.PtrSize(), elem.Alignment(true))))}
}

// slist writes a __gnu_cxx::slist.
func slist(o object) *value.Shown {
	first, _, ok := o.PointerTo("_M_head", "_M_next")
	elem := o.T.Argument(0)
	if !ok || elem == nil {
		return nil
	}
	if first == 0 {
		return &value.Shown{Text: "empty __gnu_cxx::slist", Children: cxx.Nothing}
	}
	return &value.Shown{Text: "__gnu_cxx::slist", Children: cxx.Numbered(o.Chain(elem, first, 0, cxx.AlignUp(o.PtrSize(), elem.Alignment(false))))}
}
