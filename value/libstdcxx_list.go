package value

import "iter"

// listObject writes a std::list: a ring of nodes, in which the list itself is one.
func listObject(o *object) *shown {
	head, ok := o.v.member("_M_impl", "_M_node")
	elem := o.t.argument(0)
	if !ok || elem == nil || head.Place != InMemory {
		return nil
	}
	next, ok := head.member("_M_next")
	first, err := next.Uint()
	if !ok || err != nil {
		return nil
	}
	if first == head.Addr {
		return &shown{text: "empty " + o.name, children: nothing}
	}
	return &shown{text: o.name, children: numbered(o.chain(elem, first, head.Addr, alignUp(2*o.ptrSize(), elem.alignment(false))))}
}

func nothing(func(child) bool) {}

// chain yields the elements of nodes, each of which begins with the address of the next. The element is offset bytes from
// the node's beginning.
func (o *object) chain(elem *Type, node, end, offset uint64) iter.Seq2[Value, error] {
	return o.chainBy(0, elem, node, end, offset)
}

// chainBy is chain where the address of the next node is link bytes from the node's beginning.
func (o *object) chainBy(link uint64, elem *Type, node, end, offset uint64) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		for node := node; node != end; {
			next, err := o.word(node + link)
			if err != nil {
				yield(Value{}, err)
				return
			}
			if !yield(o.at(elem, node+offset), nil) {
				return
			}
			node = next
		}
	}
}

// forwardList writes a std::forward_list.
func forwardList(o *object) *shown {
	first, _, ok := o.pointerTo("_M_impl", "_M_head", "_M_next")
	elem := o.t.argument(0)
	if !ok || elem == nil {
		return nil
	}
	if first == 0 {
		return &shown{text: "empty " + o.name, children: nothing}
	}
	return &shown{text: o.name, children: numbered(o.chain(elem, first, 0, alignUp(o.ptrSize(), elem.alignment(true))))}
}

// slist writes a __gnu_cxx::slist.
func slist(o *object) *shown {
	first, _, ok := o.pointerTo("_M_head", "_M_next")
	elem := o.t.argument(0)
	if !ok || elem == nil {
		return nil
	}
	if first == 0 {
		return &shown{text: "empty __gnu_cxx::slist", children: nothing}
	}
	return &shown{text: "__gnu_cxx::slist", children: numbered(o.chain(elem, first, 0, alignUp(o.ptrSize(), elem.alignment(false))))}
}
