package libcxx

import (
	"iter"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// stored are the elements of a container in its nodes: values, or pairs of a key and a value. The
// types of nodes and pairs are not asked: debug information may have no more than their names.
type stored struct {
	key, value *value.Type // value is nil of a set
	second     uint64
	align      uint64
}

// stored returns what a container of libc++ keeps in nodes.
func (o object) stored() (s stored, ok bool) {
	if s.key = o.T.Argument(0); s.key == nil {
		return s, false
	}
	if _, ok := s.key.SizeOf(); !ok {
		return s, false
	}
	s.align = s.key.Alignment(false)
	if !o.isMap() {
		return s, true
	}
	if s.value = o.T.Argument(1); s.value == nil {
		return s, false
	}
	if _, ok := s.value.SizeOf(); !ok {
		return s, false
	}
	align := s.value.Alignment(false)
	s.second = cxx.AlignUp(cxx.Size(s.key), align)
	s.align = max(s.align, align)
	return s, true
}

// storing writes a container of count elements. values yields what is at their beginning, as values
// of the key's type.
func (o object) storing(s stored, count int64, values iter.Seq2[value.Value, error]) *value.Shown {
	out := &value.Shown{Text: o.Name + " with " + cxx.CountText(count)}
	if s.value == nil {
		out.Children = cxx.Numbered(values)
		return out
	}
	out.Hint = value.AsMap
	out.Children = func(yield func(value.Child, error) bool) {
		for v, err := range values {
			if err != nil {
				yield(value.Child{}, err)
				return
			}
			if !yield(value.Child{Value: v}, nil) || !yield(value.Child{Value: o.At(s.value, v.Addr+s.second)}, nil) {
				return
			}
		}
	}
	return out
}

// tree writes a std::map, set, multimap or multiset of libc++: a red-black tree.
func tree(o object) *value.Shown {
	tree, ok := o.V.Member("__tree_")
	if !ok {
		return nil
	}
	first, _, ok := cxx.FirstPointer(&tree, "__begin_node_")
	count, ok2 := cxx.FirstNumber(&tree, "__pair3_", "__size_")
	if !ok || !ok2 || count < 0 {
		return nil
	}
	s, ok := o.stored()
	if !ok {
		return &value.Shown{Text: o.Name + " with " + cxx.CountText(count)}
	}
	offset := o.treeValue(s.align)
	return o.storing(s, count, func(yield func(value.Value, error) bool) {
		node := first
		for i := int64(0); i < count; i++ {
			_, err := o.Word(node)
			if !yield(o.At(s.key, node+offset), err) || err != nil || i+1 == count {
				return
			}
			if node, err = o.treeNext(node); err != nil {
				yield(value.Value{}, err)
				return
			}
		}
	})
}

// The links of a tree's node, in words. A byte with the colour follows, and then, without a gap if
// it needs none, the element.
const (
	treeLeft   = 0
	treeRight  = 1
	treeParent = 2
	treeWords  = 3
)

// treeValue returns where in a tree's node an element of an alignment is.
func (o object) treeValue(align uint64) uint64 {
	return cxx.AlignUp(treeWords*o.PtrSize()+1, align)
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
		left, err := link(parent, treeLeft)
		if err != nil || left == node {
			return parent, err
		}
		node = parent
	}
	return 0, cxx.ErrLoop
}

// hashTable writes a std::unordered_map and its like of libc++: one chain of nodes.
func hashTable(o object) *value.Shown {
	table, ok := o.V.Member("__table_")
	if !ok {
		return nil
	}
	head, ok := cxx.First(&table, "__p1_", "__first_node_")
	count, ok2 := cxx.FirstNumber(&table, "__p2_", "__size_")
	if !ok || !ok2 || count < 0 {
		return nil
	}
	first, _, ok := cxx.FirstPointer(&head, "__next_")
	if !ok {
		return nil
	}
	s, ok := o.stored()
	if !ok {
		return &value.Shown{Text: o.Name + " with " + cxx.CountText(count)}
	}
	return o.storing(s, count, o.Chain(s.key, first, 0, cxx.AlignUp(2*o.PtrSize(), s.align)))
}
