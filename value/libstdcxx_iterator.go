package value

import "strconv"

// dereferenced writes what an iterator points to as the iterator's text.
func (o *object) dereferenced(v Value) *shown { return o.inNode(v, v.Addr) }

// inNode is dereferenced, of a value in a node.
func (o *object) inNode(v Value, node uint64) *shown {
	if _, ok := v.size(); !ok { // the debug information has no more than the name of its type
		return nil
	}
	if _, err := o.word(node); err != nil && v.Addr != node {
		return &shown{err: err}
	}
	return o.w.textOf("", &v, "")
}

// notDereferenceable writes an iterator that points nowhere.
func notDereferenceable(of string) *shown {
	return &shown{text: "non-dereferenceable iterator for " + of}
}

// pointerIterator writes an iterator that is a pointer to an element: of a vector, a string, or a deque.
func pointerIterator(o *object) *shown {
	name, of := "_M_current", "std::vector"
	if _, ok := o.v.member(name); !ok {
		name, of = "_M_cur", "std::deque"
	}
	at, elem, ok := o.pointerTo(name)
	if !ok {
		return nil
	}
	if at == 0 {
		return notDereferenceable(of)
	}
	return o.dereferenced(o.at(elem, at))
}

// listIterator writes an iterator of a std::list or std::forward_list.
func listIterator(o *object) *shown {
	at, _, ok := o.pointerTo("_M_node")
	elem := o.t.argument(0)
	if !ok || elem == nil {
		return nil
	}
	of, offset := "std::list", alignUp(2*o.ptrSize(), elem.alignment(false))
	if o.t.Name[:4] == "_Fwd" {
		of, offset = "std::forward_list", alignUp(o.ptrSize(), elem.alignment(true))
	}
	if at == 0 {
		return notDereferenceable(of)
	}
	return o.inNode(o.at(elem, at+offset), at)
}

// treeIterator writes an iterator of a std::map or std::set.
func treeIterator(o *object) *shown {
	at, _, ok := o.pointerTo("_M_node")
	elem := o.t.argument(0)
	if !ok || elem == nil {
		return nil
	}
	if at == 0 {
		return notDereferenceable("associative container")
	}
	return o.inNode(o.at(elem, at+alignUp(treeWords*o.ptrSize(), elem.alignment(false))), at)
}

// slistIterator writes an iterator of a __gnu_cxx::slist.
func slistIterator(o *object) *shown {
	at, _, ok := o.pointerTo("_M_node")
	elem := o.t.argument(0)
	if !ok || elem == nil {
		return nil
	}
	if at == 0 {
		return notDereferenceable("__gnu_cxx::slist")
	}
	return o.inNode(o.at(elem, at+alignUp(o.ptrSize(), elem.alignment(false))), at)
}

// bitIterator writes an iterator of a std::vector<bool>, or a reference to a bit.
func bitIterator(o *object) *shown {
	at, word, ok := o.pointerTo("_M_p")
	mask, reference := o.number("_M_mask")
	if !ok {
		return nil
	}
	if !reference {
		bit, ok := o.number("_M_offset")
		if !ok {
			return nil
		}
		mask = 1 << uint64(bit)
	}
	return o.bitAt(at, word, uint64(mask), reference)
}

// bitAt writes a bit of the word at an address.
func (o *object) bitAt(at uint64, word *Type, mask uint64, reference bool) *shown {
	switch {
	case at == 0 && reference:
		return &shown{text: "invalid std::vector<bool>::reference"}
	case at == 0:
		return notDereferenceable("std::vector<bool>")
	}
	v := o.at(word, at)
	n, err := v.Uint()
	return &shown{text: strconv.FormatBool(n&mask != 0), err: err}
}

// debugIterator writes an iterator of debug mode as the one that it is derived from, if its container still knows it.
func debugIterator(o *object) *shown {
	of := o.t.argument(0)
	sequence, base, ok := o.pointerTo("_M_sequence")
	version, ok2 := o.number("_M_version")
	if of == nil || !ok || !ok2 {
		return nil
	}
	if sequence != 0 {
		s := o.at(base, sequence)
		m, ok := s.oneMember("_M_version", 0)
		if !ok {
			return nil
		}
		n, err := m.Int()
		if err != nil {
			return &shown{err: err}
		}
		if n != version {
			return &shown{text: "invalid iterator"}
		}
	}
	for i := 0; ; i++ {
		b, ok := o.v.base(i)
		if !ok {
			return nil
		}
		if b.Type.Strip() == of.Strip() {
			return o.dereferenced(b)
		}
	}
}
