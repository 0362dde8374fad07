package libstdcxx

import (
	"iter"
	"math"
	"strings"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// tree writes a std::map, set, multimap or multiset: a red-black tree.
func tree(o object) *value.Shown {
	count, ok := o.Number("_M_t", "_M_impl", "_M_node_count")
	first, _, ok2 := o.PointerTo("_M_t", "_M_impl", "_M_header", "_M_left")
	all, ok3 := cxx.Member(o.V, "_M_t")
	if !ok || !ok2 || !ok3 || count < 0 {
		return nil
	}
	elem := all.Type.Strip().Argument(1)
	if elem == nil {
		return nil
	}
	return o.elements(elem, count, o.treeNodes(elem, first, count))
}

// elements writes the elements of a container whose name says whether they are pairs.
func (o object) elements(elem *value.Type, count int64, values iter.Seq2[value.Value, error]) *value.Shown {
	s := &value.Shown{Text: o.Name + " with " + cxx.CountText(count)}
	if _, ok := elem.SizeOf(); !ok { // the debug information has no more than its name
		return s
	}
	if strings.HasSuffix(o.Name, "map") {
		s.Hint, s.Children = value.AsMap, keysAndValues(values)
	} else {
		s.Children = cxx.Numbered(values)
	}
	return s
}

// keysAndValues yields keys and values in turn.
func keysAndValues(values iter.Seq2[value.Value, error]) iter.Seq2[value.Child, error] {
	return func(yield func(value.Child, error) bool) {
		for v, err := range values {
			if err != nil {
				yield(value.Child{}, err)
				return
			}
			for _, name := range [...]string{"first", "second"} {
				m, ok := v.Member(name)
				if !ok {
					m = value.Unknowable(v.Type, value.ErrUnavailable)
				}
				if !yield(value.Child{Value: m}, nil) {
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

// treeNodes yields the elements of count nodes from the leftmost on.
func (o object) treeNodes(elem *value.Type, node uint64, count int64) iter.Seq2[value.Value, error] {
	offset := cxx.AlignUp(treeWords*o.PtrSize(), elem.Alignment(false))
	return func(yield func(value.Value, error) bool) {
		for i := int64(0); i < count; i++ {
			this := node
			v := o.At(elem, this+offset)
			if i+1 < count {
				next, err := o.treeNext(node)
				if err != nil {
					yield(value.Value{}, err)
					return
				}
				node = next
			}
			if _, err := o.Word(this); err != nil {
				yield(value.Value{}, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// treeNext returns the node with the next element.
func (o object) treeNext(node uint64) (uint64, error) {
	link := func(node, i uint64) (uint64, error) { return o.Word(node + i*o.PtrSize()) }
	right, err := link(node, treeRight)
	if err != nil {
		return 0, err
	}
	if right != 0 { // the leftmost of those to the right
		for range cxx.MaxTreeDepth {
			left, err := link(right, treeLeft)
			if err != nil || left == 0 {
				return right, err
			}
			right = left
		}
		return 0, cxx.ErrLoop
	}
	for range cxx.MaxTreeDepth { // the first that node is to the left of
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
	return 0, cxx.ErrLoop
}

// hashTable writes a std::unordered_map and its like, of C++11 or TR1.
func hashTable(o object) *value.Shown {
	if strings.HasPrefix(o.Name, "std::tr1::") {
		return oldHashTable(o)
	}
	count, ok := o.Number("_M_h", "_M_element_count")
	table, ok2 := cxx.Member(o.V, "_M_h")
	first, _, ok3 := o.PointerTo("_M_h", "_M_before_begin", "_M_nxt")
	if !ok || !ok2 || !ok3 || count < 0 {
		return nil
	}
	elem := table.Type.Strip().Argument(1)
	traits := table.Type.Strip().Argument(9)
	if elem == nil || traits == nil {
		return nil
	}
	align := elem.Alignment(true)
	if list := traits.Strip().TemplateArguments(); len(list) > 0 && list[0].Value != nil && *list[0].Value != 0 {
		align = max(align, o.PtrSize()) // the hash code is in the node
	}
	return o.elements(elem, count, o.Chain(elem, first, 0, cxx.AlignUp(o.PtrSize(), align)))
}

// oldHashTable writes a std::tr1::unordered_map and its like: a table of buckets, each a chain of
// nodes.
func oldHashTable(o object) *value.Shown {
	count, ok := o.Number("_M_element_count")
	buckets, bucket, ok2 := o.PointerTo("_M_buckets")
	n, ok3 := o.Number("_M_bucket_count")
	if !ok || !ok2 || !ok3 || count < 0 || n < 0 || n > math.MaxInt32 || bucket.Strip().Kind != value.Pointer {
		return nil
	}
	node := bucket.Strip().Elem()
	var elem *value.Type
	var at, next int64
	for _, f := range node.Strip().Fields() {
		switch f.Name {
		case "_M_v":
			elem, at = f.Type, f.Offset
		case "_M_next":
			next = f.Offset
		}
	}
	if elem == nil {
		return nil
	}
	return o.elements(elem, count, func(yield func(value.Value, error) bool) {
		for i := uint64(0); i < uint64(n) && o.W.Spend(1); i++ {
			node, err := o.Word(buckets + i*o.PtrSize())
			for err == nil && node != 0 {
				if !yield(o.At(elem, node+uint64(at)), nil) {
					return
				}
				node, err = o.Word(node + uint64(next))
			}
			if err != nil {
				yield(value.Value{}, err)
				return
			}
		}
	})
}
