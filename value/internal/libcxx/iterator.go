package libcxx

import (
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// pointerIterator writes an iterator of libc++ that is a pointer to an element, or has one: of a
// vector, a string, a deque.
func pointerIterator(o object) *value.Shown {
	of := "std::vector"
	at, elem, ok := cxx.FirstPointer(o.V, "__i_", "__i")
	if !ok {
		of = "std::deque"
		if at, elem, ok = cxx.FirstPointer(o.V, "__ptr_"); !ok {
			return nil
		}
	}
	if at == 0 {
		return cxx.NotDereferenceable(of)
	}
	return o.Dereferenced(o.At(elem, at))
}

// listIterator writes an iterator of a std::list or std::forward_list of libc++. Of a std::list,
// the end is a node like any other.
func listIterator(o object) *value.Shown {
	at, node, ok := cxx.FirstPointer(o.V, "__ptr_")
	if !ok {
		return nil
	}
	of, words := "std::list", uint64(2)
	if len(o.T.Name) > 9 && o.T.Name[:9] == "__forward" {
		of, words = "std::forward_list", 1
	}
	if at == 0 {
		return cxx.NotDereferenceable(of)
	}
	elem := o.T.Argument(0)
	if words == 1 { // of the type of a node
		elem = node.Strip().Argument(0)
		if of := o.T.Argument(0); of != nil && of.Strip().Kind == value.Pointer {
			elem = of.Strip().Elem().Strip().Argument(0)
		}
	}
	if elem == nil {
		return nil
	}
	return o.InNode(o.At(elem, at+cxx.AlignUp(words*o.PtrSize(), elem.Alignment(false))), at)
}

// treeIterator writes an iterator of a std::map or std::set of libc++.
func treeIterator(o object) *value.Shown {
	in := o.iterator()
	at, _, ok := cxx.FirstPointer(&in, "__ptr_")
	elem := o.element(in.Type.Strip().Argument(0))
	if !ok || elem == nil {
		return nil
	}
	if at == 0 || o.treeEnd(at) {
		return cxx.NotDereferenceable("associative container")
	}
	return o.InNode(o.At(elem, at+o.treeValue(elem.Alignment(false))), at)
}

// iterator returns the iterator of the table or tree that an iterator of a container has.
func (o object) iterator() value.Value {
	if in, ok := o.V.Member("__i_"); ok {
		return in
	}
	return *o.V
}

// treeEnd reports whether a node is the end of a tree: that has no parent, in which it would be the
// left or the right one.
func (o object) treeEnd(node uint64) bool {
	parent, err := o.Word(node + treeParent*o.PtrSize())
	if err != nil {
		return false
	}
	left, err := o.Word(parent + treeLeft*o.PtrSize())
	if err == nil && left == node {
		return false
	}
	right, err := o.Word(parent + treeRight*o.PtrSize())
	return err != nil || right != node
}

// element returns what a node has for its users, by what it has. That may be a __value_type, with a
// pair in it, or, since LLVM 22, in its place.
func (o object) element(t *value.Type) *value.Type {
	if t == nil {
		return nil
	}
	switch template, _ := cxx.Template(t.Strip().Name); template {
	case "__value_type", "__hash_value_type":
		t = t.Strip()
		for _, f := range t.Fields() {
			if f.Name == "__cc_" || f.Name == "__cc" {
				return f.Type
			}
		}
		key, value := t.Argument(0), t.Argument(1)
		if key == nil || value == nil {
			return nil
		}
		return o.T.Reader().TypeNamed(symbol.CanonicalName("std::"+o.ABI+"pair<const "+key.String()+", "+value.String()+">"), t)
	}
	return t
}

// hashIterator writes an iterator of a std::unordered_map or std::unordered_set of libc++.
func hashIterator(o object) *value.Shown {
	in := o.iterator()
	at, _, ok := cxx.FirstPointer(&in, "__node_")
	node := in.Type.Strip().Argument(0)
	if !ok || node == nil || node.Strip().Kind != value.Pointer {
		return nil
	}
	elem := o.element(node.Strip().Elem().Strip().Argument(0))
	if elem == nil {
		return nil
	}
	if at == 0 {
		return cxx.NotDereferenceable("unordered container")
	}
	return o.InNode(o.At(elem, at+cxx.AlignUp(2*o.PtrSize(), elem.Alignment(false))), at)
}

// bitIterator writes an iterator of a std::vector<bool> of libc++, or a reference to a bit.
func bitIterator(o object) *value.Shown {
	at, word, ok := cxx.FirstPointer(o.V, "__seg_")
	if !ok {
		return nil
	}
	mask, reference := cxx.FirstNumber(o.V, "__mask_")
	if !reference {
		bit, ok := cxx.FirstNumber(o.V, "__ctz_")
		if !ok {
			return nil
		}
		mask = 1 << uint64(bit)
	}
	return o.BitAt(at, word, uint64(mask), reference)
}
