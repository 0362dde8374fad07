package libstdcxx

import (
	"iter"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// deque writes a std::deque: blocks of elements, in a table of pointers to them.
func deque(o object) *value.Shown {
	elem := o.T.Argument(0)
	first, blocks, ok := o.PointerTo("_M_impl", "_M_start", "_M_node")
	if !ok {
		return nil
	}
	if elem == nil {
		elem = blocks.Elem().Strip().Elem()
	}
	var at [6]uint64
	for i, names := range [...][2]string{
		{"_M_start", "_M_cur"}, {"_M_start", "_M_last"},
		{"_M_finish", "_M_node"}, {"_M_finish", "_M_cur"}, {"_M_finish", "_M_first"},
	} {
		if at[i], _, ok = o.PointerTo("_M_impl", names[0], names[1]); !ok {
			return nil
		}
	}
	start, last, lastBlock, end, lastFirst := at[0], at[1], at[2], at[3], at[4]
	size := max(cxx.Size(elem), 1)
	const blockBytes = 512
	perBlock := max(blockBytes/size, 1)
	n := int64(perBlock)*(o.Distance(lastBlock, first, o.PtrSize())-1) + o.Distance(last, start, size) + o.Distance(end, lastFirst, size)
	return &value.Shown{
		Text: o.Name + " with " + cxx.CountText(n), Hint: value.AsArray,
		Children: cxx.Numbered(o.blocks(elem, first, start, last, end, size, perBlock)),
	}
}

// blocks yields the elements from start, which is in the block that node refers to, to end. last is
// behind the first block.
func (o object) blocks(elem *value.Type, node, start, last, end, size, perBlock uint64) iter.Seq2[value.Value, error] {
	return func(yield func(value.Value, error) bool) {
		for at := start; at != end; {
			v := o.At(elem, at)
			if at = o.Wrap(at + size); at == last {
				node += o.PtrSize()
				next, err := o.Word(node)
				if err != nil {
					yield(value.Value{}, err)
					return
				}
				at, last = next, o.Wrap(next+perBlock*size)
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
