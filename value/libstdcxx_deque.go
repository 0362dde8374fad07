package value

import "iter"

// deque writes a std::deque: blocks of elements, in a table of pointers to them.
func deque(o *object) *shown {
	elem := o.t.argument(0)
	first, blocks, ok := o.pointerTo("_M_impl", "_M_start", "_M_node")
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
		if at[i], _, ok = o.pointerTo("_M_impl", names[0], names[1]); !ok {
			return nil
		}
	}
	start, last, lastBlock, end, lastFirst := at[0], at[1], at[2], at[3], at[4]
	size := max(elem.sizeOrZero(), 1)
	const blockBytes = 512
	perBlock := max(blockBytes/size, 1)
	n := int64(perBlock)*(o.distance(lastBlock, first, o.ptrSize())-1) + o.distance(last, start, size) + o.distance(end, lastFirst, size)
	return &shown{
		text: o.name + " with " + countText(n), hint: asArray,
		children: numbered(o.blocks(elem, first, start, last, end, size, perBlock)),
	}
}

// blocks yields the elements from start, which is in the block that node refers to, to end. last is behind the first block.
func (o *object) blocks(elem *Type, node, start, last, end, size, perBlock uint64) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		for at := start; at != end; {
			v := o.at(elem, at)
			if at = o.t.r.Arch.Wrap(at + size); at == last {
				node += o.ptrSize()
				next, err := o.word(node)
				if err != nil {
					yield(Value{}, err)
					return
				}
				at, last = next, o.t.r.Arch.Wrap(next+perBlock*size)
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
