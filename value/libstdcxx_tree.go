package value

import (
	"iter"
	"math"
	"strings"
)

// tree writes a std::map, set, multimap or multiset: a red-black tree.
func tree(o *object) *shown {
	count, ok := o.number("_M_t", "_M_impl", "_M_node_count")
	first, _, ok2 := o.pointerTo("_M_t", "_M_impl", "_M_header", "_M_left")
	all, ok3 := o.v.member("_M_t")
	if !ok || !ok2 || !ok3 || count < 0 {
		return nil
	}
	elem := all.Type.Strip().argument(1)
	if elem == nil {
		return nil
	}
	return o.elements(elem, count, o.treeNodes(elem, first, count))
}

// elements writes the elements of a container whose name says whether they are pairs.
func (o *object) elements(elem *Type, count int64, values iter.Seq2[Value, error]) *shown {
	s := &shown{text: o.name + " with " + countText(count)}
	if _, ok := elem.SizeOf(); !ok { // the debug information has no more than its name
		return s
	}
	if strings.HasSuffix(o.name, "map") {
		s.hint, s.children = asMap, keysAndValues(values)
	} else {
		s.children = numbered(values)
	}
	return s
}

// keysAndValues yields keys and values in turn.
func keysAndValues(values iter.Seq2[Value, error]) iter.Seq[child] {
	return func(yield func(child) bool) {
		for v, err := range values {
			if err != nil {
				yield(child{err: err})
				return
			}
			for _, name := range [...]string{"first", "second"} {
				m, ok := v.oneMember(name, 0)
				if !ok {
					m = Value{Type: v.Type, err: ErrUnavailable}
				}
				if !yield(child{value: m}) {
					return
				}
			}
		}
	}
}

// treeLinks are the offsets of a node's links, in words behind its colour.
const (
	treeParent = 1
	treeLeft   = 2
	treeRight  = 3
	treeWords  = 4 // the element follows
)

// maxTreeDepth bounds a tree: one with 2^63 nodes is at most twice as deep as it has bits.
const maxTreeDepth = 128

// treeNodes yields the elements of count nodes from the leftmost on.
func (o *object) treeNodes(elem *Type, node uint64, count int64) iter.Seq2[Value, error] {
	offset := alignUp(treeWords*o.ptrSize(), elem.alignment(false))
	return func(yield func(Value, error) bool) {
		for i := int64(0); i < count; i++ {
			this := node
			v := o.at(elem, this+offset)
			if i+1 < count {
				next, err := o.treeNext(node)
				if err != nil {
					yield(Value{}, err)
					return
				}
				node = next
			}
			if _, err := o.word(this); err != nil {
				yield(Value{}, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// treeNext returns the node with the next element.
func (o *object) treeNext(node uint64) (uint64, error) {
	link := func(node, i uint64) (uint64, error) { return o.word(node + i*o.ptrSize()) }
	right, err := link(node, treeRight)
	if err != nil {
		return 0, err
	}
	if right != 0 { // the leftmost of those to the right
		for range maxTreeDepth {
			left, err := link(right, treeLeft)
			if err != nil || left == 0 {
				return right, err
			}
			right = left
		}
		return 0, errLoop
	}
	for range maxTreeDepth { // the first that node is to the left of
		parent, err := link(node, treeParent)
		if err != nil {
			return 0, err
		}
		right, err := link(parent, treeRight)
		if err != nil {
			return 0, err
		}
		if right != node {
			below, err := link(node, treeRight)
			if err == nil && below != parent {
				node = parent
			}
			return node, err
		}
		node = parent
	}
	return 0, errLoop
}

// hashTable writes a std::unordered_map and its like, of C++11 or TR1.
func hashTable(o *object) *shown {
	if strings.HasPrefix(o.name, "std::tr1::") {
		return oldHashTable(o)
	}
	count, ok := o.number("_M_h", "_M_element_count")
	table, ok2 := o.v.member("_M_h")
	first, _, ok3 := o.pointerTo("_M_h", "_M_before_begin", "_M_nxt")
	if !ok || !ok2 || !ok3 || count < 0 {
		return nil
	}
	elem := table.Type.Strip().argument(1)
	traits := table.Type.Strip().argument(9)
	if elem == nil || traits == nil {
		return nil
	}
	align := elem.alignment(true)
	if list := traits.Strip().TemplateArguments(); len(list) > 0 && list[0].Value != nil && *list[0].Value != 0 {
		align = max(align, o.ptrSize()) // the hash code is in the node
	}
	return o.elements(elem, count, o.chain(elem, first, 0, alignUp(o.ptrSize(), align)))
}

// oldHashTable writes a std::tr1::unordered_map and its like: a table of buckets, each a chain of nodes.
func oldHashTable(o *object) *shown {
	count, ok := o.number("_M_element_count")
	buckets, bucket, ok2 := o.pointerTo("_M_buckets")
	n, ok3 := o.number("_M_bucket_count")
	if !ok || !ok2 || !ok3 || count < 0 || n < 0 || n > math.MaxInt32 || bucket.Strip().Kind != Pointer {
		return nil
	}
	node := bucket.Strip().Elem()
	var elem *Type
	var value, next int64
	for _, f := range node.Strip().Fields() {
		switch f.Name {
		case "_M_v":
			elem, value = f.Type, f.Offset
		case "_M_next":
			next = f.Offset
		}
	}
	if elem == nil {
		return nil
	}
	return o.elements(elem, count, func(yield func(Value, error) bool) {
		for i := uint64(0); i < uint64(n) && o.w.Spend(1); i++ {
			at, err := o.word(buckets + i*o.ptrSize())
			for err == nil && at != 0 {
				if !yield(o.at(elem, at+uint64(value)), nil) {
					return
				}
				at, err = o.word(at + uint64(next))
			}
			if err != nil {
				yield(Value{}, err)
				return
			}
		}
	})
}
