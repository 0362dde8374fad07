package value

import "github.com/sfwalk/sfwalk/symbol"

// libcxxPointerIterator writes an iterator of libc++ that is a pointer to an element, or has one: of a vector, a string, a deque.
func libcxxPointerIterator(o *object) *shown {
	of := "std::vector"
	at, elem, ok := o.v.libcxxPointer("__i_", "__i")
	if !ok {
		of = "std::deque"
		if at, elem, ok = o.v.libcxxPointer("__ptr_"); !ok {
			return nil
		}
	}
	if at == 0 {
		return notDereferenceable(of)
	}
	return o.dereferenced(o.at(elem, at))
}

// libcxxListIterator writes an iterator of a std::list or std::forward_list of libc++. Of a std::list, the end is a node like any other.
func libcxxListIterator(o *object) *shown {
	at, node, ok := o.v.libcxxPointer("__ptr_")
	if !ok {
		return nil
	}
	of, words := "std::list", uint64(2)
	if len(o.t.Name) > 9 && o.t.Name[:9] == "__forward" {
		of, words = "std::forward_list", 1
	}
	if at == 0 {
		return notDereferenceable(of)
	}
	elem := o.t.argument(0)
	if words == 1 { // of the type of a node
		elem = node.Strip().argument(0)
		if of := o.t.argument(0); of != nil && of.Strip().Kind == Pointer {
			elem = of.Strip().Elem().Strip().argument(0)
		}
	}
	if elem == nil {
		return nil
	}
	return o.inNode(o.at(elem, at+alignUp(words*o.ptrSize(), elem.alignment(false))), at)
}

// libcxxTreeIterator writes an iterator of a std::map or std::set of libc++.
func libcxxTreeIterator(o *object) *shown {
	in := o.iterator()
	at, _, ok := in.libcxxPointer("__ptr_")
	elem := o.libcxxElement(in.Type.Strip().argument(0))
	if !ok || elem == nil {
		return nil
	}
	if at == 0 || o.libcxxTreeEnd(at) {
		return notDereferenceable("associative container")
	}
	return o.inNode(o.at(elem, at+o.libcxxTreeValue(elem.alignment(false))), at)
}

// iterator returns the iterator of the table or tree that an iterator of a container has.
func (o *object) iterator() Value {
	if in, ok := o.v.oneMember("__i_", 0); ok {
		return in
	}
	return *o.v
}

// libcxxTreeEnd reports whether a node is the end of a tree: that has no parent, in which it would be the left or the right one.
func (o *object) libcxxTreeEnd(node uint64) bool {
	parent, err := o.word(node + libcxxTreeParent*o.ptrSize())
	if err != nil {
		return false
	}
	left, err := o.word(parent + libcxxTreeLeft*o.ptrSize())
	if err == nil && left == node {
		return false
	}
	right, err := o.word(parent + libcxxTreeRight*o.ptrSize())
	return err != nil || right != node
}

// libcxxElement returns what a node has for its users, by what it has. That may be a __value_type, with a pair in it, or, since LLVM 22, in
// its place.
func (o *object) libcxxElement(t *Type) *Type {
	if t == nil {
		return nil
	}
	switch template, _ := cxxTemplate(t.Strip().Name); template {
	case "__value_type", "__hash_value_type":
		t = t.Strip()
		for _, f := range t.Fields() {
			if f.Name == "__cc_" || f.Name == "__cc" {
				return f.Type
			}
		}
		key, value := t.argument(0), t.argument(1)
		if key == nil || value == nil || t.entry == nil {
			return nil
		}
		return o.t.r.TypeNamed(symbol.CanonicalName("std::"+o.abi+"pair<const "+key.String()+", "+value.String()+">"), t)
	}
	return t
}

// libcxxHashIterator writes an iterator of a std::unordered_map or std::unordered_set of libc++.
func libcxxHashIterator(o *object) *shown {
	in := o.iterator()
	at, _, ok := in.libcxxPointer("__node_")
	node := in.Type.Strip().argument(0)
	if !ok || node == nil || node.Strip().Kind != Pointer {
		return nil
	}
	elem := o.libcxxElement(node.Strip().Elem().Strip().argument(0))
	if elem == nil {
		return nil
	}
	if at == 0 {
		return notDereferenceable("unordered container")
	}
	return o.inNode(o.at(elem, at+alignUp(2*o.ptrSize(), elem.alignment(false))), at)
}

// libcxxBitIterator writes an iterator of a std::vector<bool> of libc++, or a reference to a bit.
func libcxxBitIterator(o *object) *shown {
	at, word, ok := o.v.libcxxPointer("__seg_")
	if !ok {
		return nil
	}
	mask, reference := o.v.libcxxNumber("__mask_")
	if !reference {
		bit, ok := o.v.libcxxNumber("__ctz_")
		if !ok {
			return nil
		}
		mask = 1 << uint64(bit)
	}
	return o.bitAt(at, word, uint64(mask), reference)
}
