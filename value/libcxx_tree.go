package value

import "iter"

// stored are the elements of a container in its nodes: values, or pairs of a key and a value. The types of nodes and pairs are not asked: debug
// information may have no more than their names.
type stored struct {
	key, value *Type // value is nil of a set
	second     uint64
	align      uint64
}

// stored returns what a container of libc++ keeps in nodes.
func (o *object) stored() (s stored, ok bool) {
	if s.key = o.t.argument(0); s.key == nil {
		return s, false
	}
	if _, ok := s.key.SizeOf(); !ok {
		return s, false
	}
	s.align = s.key.alignment(false)
	if !o.isMap() {
		return s, true
	}
	if s.value = o.t.argument(1); s.value == nil {
		return s, false
	}
	if _, ok := s.value.SizeOf(); !ok {
		return s, false
	}
	align := s.value.alignment(false)
	s.second = alignUp(s.key.sizeOrZero(), align)
	s.align = max(s.align, align)
	return s, true
}

// storing writes a container of count elements. values yields what is at their beginning, as values of the key's type.
func (o *object) storing(s stored, count int64, values iter.Seq2[Value, error]) *shown {
	out := &shown{text: o.name + " with " + countText(count)}
	if s.value == nil {
		out.children = numbered(values)
		return out
	}
	out.hint = asMap
	out.children = func(yield func(child) bool) {
		for v, err := range values {
			if err != nil {
				yield(child{err: err})
				return
			}
			if !yield(child{value: v}) || !yield(child{value: o.at(s.value, v.Addr+s.second)}) {
				return
			}
		}
	}
	return out
}

// libcxxTree writes a std::map, set, multimap or multiset of libc++: a red-black tree.
func libcxxTree(o *object) *shown {
	tree, ok := o.v.oneMember("__tree_", 0)
	if !ok {
		return nil
	}
	first, _, ok := tree.libcxxPointer("__begin_node_")
	count, ok2 := tree.libcxxNumber("__pair3_", "__size_")
	if !ok || !ok2 || count < 0 {
		return nil
	}
	s, ok := o.stored()
	if !ok {
		return &shown{text: o.name + " with " + countText(count)}
	}
	offset := o.libcxxTreeValue(s.align)
	return o.storing(s, count, func(yield func(Value, error) bool) {
		node := first
		for i := int64(0); i < count; i++ {
			_, err := o.word(node)
			if !yield(o.at(s.key, node+offset), err) || err != nil || i+1 == count {
				return
			}
			if node, err = o.libcxxTreeNext(node); err != nil {
				yield(Value{}, err)
				return
			}
		}
	})
}

// The links of a tree's node, in words. A byte with the colour follows, and then, without a gap if it needs none, the element.
const (
	libcxxTreeLeft   = 0
	libcxxTreeRight  = 1
	libcxxTreeParent = 2
	libcxxTreeWords  = 3
)

// libcxxTreeValue returns where in a tree's node an element of an alignment is.
func (o *object) libcxxTreeValue(align uint64) uint64 {
	return alignUp(libcxxTreeWords*o.ptrSize()+1, align)
}

// libcxxTreeNext returns the node with the next element.
func (o *object) libcxxTreeNext(node uint64) (uint64, error) {
	link := func(node, i uint64) (uint64, error) { return o.word(node + i*o.ptrSize()) }
	right, err := link(node, libcxxTreeRight)
	if err != nil {
		return 0, err
	}
	if right != 0 { // the leftmost of those to the right
		for range maxTreeDepth {
			left, err := link(right, libcxxTreeLeft)
			if err != nil || left == 0 {
				return right, err
			}
			right = left
		}
		return 0, errLoop
	}
	for range maxTreeDepth { // the first that node is to the left of
		parent, err := link(node, libcxxTreeParent)
		if err != nil {
			return 0, err
		}
		left, err := link(parent, libcxxTreeLeft)
		if err != nil || left == node {
			return parent, err
		}
		node = parent
	}
	return 0, errLoop
}

// libcxxHashTable writes a std::unordered_map and its like of libc++: one chain of nodes.
func libcxxHashTable(o *object) *shown {
	table, ok := o.v.oneMember("__table_", 0)
	if !ok {
		return nil
	}
	head, ok := table.libcxxMember("__p1_", "__first_node_")
	count, ok2 := table.libcxxNumber("__p2_", "__size_")
	if !ok || !ok2 || count < 0 {
		return nil
	}
	first, _, ok := head.libcxxPointer("__next_")
	if !ok {
		return nil
	}
	s, ok := o.stored()
	if !ok {
		return &shown{text: o.name + " with " + countText(count)}
	}
	return o.storing(s, count, o.chain(s.key, first, 0, alignUp(2*o.ptrSize(), s.align)))
}
