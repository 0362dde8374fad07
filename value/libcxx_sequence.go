package value

import (
	"fmt"
	"iter"
	"strings"
)

// libcxxVector writes a std::vector of libc++: three pointers, or a pointer and two numbers.
func libcxxVector(o *object) *shown {
	v := o.v
	if layout, ok := v.oneMember("__layout_", 0); ok {
		v = &layout
	}
	start, elem, ok := v.libcxxPointer("__begin_")
	if !ok {
		return nil
	}
	if of := o.t.argument(0); of != nil && of.Strip().Kind == Bool && elem.Strip().Kind != Bool {
		return o.libcxxBits(start, elem)
	}
	if n, ok := v.libcxxNumber("__size_"); ok {
		capacity, ok := v.libcxxNumber("__capacity_", "__cap_")
		if !ok {
			return nil
		}
		s := o.counted(elem, start, n)
		s.text += fmt.Sprintf(", capacity %d", capacity)
		return s
	}
	end, _, ok := v.libcxxPointer("__end_")
	limit, _, ok2 := v.libcxxPointer("__end_cap_", "__cap_", "__capacity_")
	if !ok || !ok2 {
		return nil
	}
	return o.sequence(elem, start, end, limit)
}

// libcxxBits writes a std::vector<bool>, which counts its bits, and the words for them.
func (o *object) libcxxBits(start uint64, word *Type) *shown {
	n, ok := o.v.libcxxNumber("__size_")
	capacity, ok2 := o.v.libcxxNumber("__cap_alloc_", "__cap_")
	if !ok || !ok2 {
		return nil
	}
	size := max(word.sizeOrZero(), 1)
	bits := 8 * size
	end := o.t.r.Arch.Wrap(start + uint64(n)/bits*size)
	return &shown{
		text:     fmt.Sprintf("%s<bool> of length %d, capacity %d", o.name, n, capacity*int64(bits)),
		hint:     asArray,
		children: o.bitRun(word, start, end, uint64(n)%bits),
	}
}

// libcxxDeque writes a std::deque of libc++: blocks of elements, in a table of pointers to them.
func libcxxDeque(o *object) *shown {
	table, ok := o.v.oneMember("__map_", 0)
	if !ok {
		return nil
	}
	blocks, block, ok := table.libcxxPointer("__begin_")
	first, ok2 := o.v.libcxxNumber("__start_")
	n, ok3 := o.v.libcxxNumber("__size_")
	if !ok || !ok2 || !ok3 || first < 0 || n < 0 || block.Strip().Kind != Pointer {
		return nil
	}
	elem := block.Strip().Elem()
	size := max(elem.sizeOrZero(), 1)
	perBlock := uint64(16)
	const blockBytes = 4096
	if size < blockBytes/16 {
		perBlock = blockBytes / size
	}
	return &shown{
		text: o.name + " with " + countText(n), hint: asArray,
		children: numbered(func(yield func(Value, error) bool) {
			for i := uint64(first); i != uint64(first)+uint64(n); i++ {
				at, err := o.word(blocks + i/perBlock*o.ptrSize())
				if !yield(o.at(elem, at+i%perBlock*size), err) || err != nil {
					return
				}
			}
		}),
	}
}

// libcxxList writes a std::list of libc++: a ring of nodes, in which a part of the list is one. A node has the address of the one before it, and
// then that of the next.
func libcxxList(o *object) *shown {
	end, ok := o.v.member("__end_")
	if !ok {
		return nil
	}
	first, _, ok := end.libcxxPointer("__next_")
	elem := o.t.argument(0)
	if !ok || elem == nil {
		return nil
	}
	nodes := o.chainBy(o.ptrSize(), elem, first, end.Addr, alignUp(2*o.ptrSize(), elem.alignment(false)))
	if end.Place != InMemory {
		n, ok := o.v.libcxxNumber("__size_alloc_", "__size_")
		if !ok || n < 0 {
			return nil
		}
		nodes = limited(nodes, n)
	} else if first == end.Addr {
		nodes = limited(nodes, 0)
	}
	return o.listOf(nodes)
}

// listOf writes a list: "empty" and its name, or its elements.
func (o *object) listOf(nodes iter.Seq2[Value, error]) *shown {
	for range nodes {
		return &shown{text: o.name, children: numbered(nodes)}
	}
	return &shown{text: "empty " + o.name, children: nothing}
}

// limited yields the first n values.
func limited(values iter.Seq2[Value, error], n int64) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		if n == 0 {
			return
		}
		left := n
		for v, err := range values {
			if !yield(v, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// libcxxForwardList writes a std::forward_list of libc++.
func libcxxForwardList(o *object) *shown {
	head, ok := o.v.libcxxMember("__before_begin_")
	if !ok {
		return nil
	}
	first, _, ok := head.libcxxPointer("__next_")
	elem := o.t.argument(0)
	if !ok || elem == nil {
		return nil
	}
	return o.listOf(o.chain(elem, first, 0, alignUp(o.ptrSize(), elem.alignment(false))))
}

// libcxxCounted writes a std::initializer_list or std::span of libc++.
func libcxxCounted(o *object) *shown {
	start, elem, ok := o.v.libcxxPointer("__begin_", "__data_", "__data")
	if !ok {
		return nil
	}
	n, ok := o.v.libcxxNumber("__size_", "__size")
	if !ok {
		list := o.t.TemplateArguments()
		if len(list) < 2 || list[1].Value == nil {
			return nil
		}
		n = *list[1].Value
	}
	return o.counted(elem, start, n)
}

// libcxxBitset writes the bits of a std::bitset that are set.
func libcxxBitset(o *object) *shown {
	list := o.t.TemplateArguments()
	if len(list) != 1 || list[0].Value == nil || *list[0].Value < 0 {
		return nil
	}
	words, ok := o.v.member("__first_")
	if !ok {
		if *list[0].Value != 0 {
			return nil
		}
		return &shown{text: o.name, children: nothing}
	}
	return o.bitsSet(words, uint64(*list[0].Value))
}

// libcxxTuple writes a std::tuple of libc++: each element is a base, or, if its class is empty, the base of a base.
func libcxxTuple(o *object) *shown {
	in, ok := o.v.oneMember("__base_", 0)
	if !ok {
		if o.t.sizeOrZero() > 1 {
			return nil
		}
		return &shown{text: "empty " + o.name, children: nothing}
	}
	return &shown{text: o.name + " containing", children: func(yield func(child) bool) {
		i := 0
		for _, f := range in.Type.Strip().Fields() {
			if template, _ := cxxTemplate(f.Type.Strip().Name); !f.Base || template != "__tuple_leaf" {
				continue
			}
			i++
			leaf := in.Field(&f)
			v, ok := leaf.ownMember("__value_")
			if !ok {
				if v, ok = leaf.base(0); !ok {
					v = Value{Type: leaf.Type, err: ErrUnavailable}
				}
			}
			if !yield(child{name: index(i), value: v}) {
				return
			}
		}
	}}
}

// ownMember returns a member that the class of an object itself declares.
func (v *Value) ownMember(name string) (Value, bool) {
	for _, f := range v.Type.Strip().Fields() {
		if f.Name == name && !f.Base {
			return v.Field(&f), true
		}
	}
	return Value{}, false
}

// isMap reports whether the name of a container says that its elements are pairs.
func (o *object) isMap() bool { return strings.HasSuffix(o.name, "map") }
