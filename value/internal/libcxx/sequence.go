package libcxx

import (
	"fmt"
	"iter"
	"strings"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// vector writes a std::vector of libc++: three pointers, or a pointer and two numbers.
func vector(o object) *value.Shown {
	v := o.V
	if layout, ok := v.Member("__layout_"); ok {
		v = &layout
	}
	start, elem, ok := cxx.FirstPointer(v, "__begin_")
	if !ok {
		return nil
	}
	if of := o.T.Argument(0); of != nil && of.Strip().Kind == value.Bool && elem.Strip().Kind != value.Bool {
		return o.bits(start, elem)
	}
	if n, ok := cxx.FirstNumber(v, "__size_"); ok {
		capacity, ok := cxx.FirstNumber(v, "__capacity_", "__cap_")
		if !ok {
			return nil
		}
		s := o.Counted(elem, start, n)
		s.Text += fmt.Sprintf(", capacity %d", capacity)
		return s
	}
	end, _, ok := cxx.FirstPointer(v, "__end_")
	limit, _, ok2 := cxx.FirstPointer(v, "__end_cap_", "__cap_", "__capacity_")
	if !ok || !ok2 {
		return nil
	}
	return o.Sequence(elem, start, end, limit)
}

// bits writes a std::vector<bool>, which counts its bits, and the words for them.
func (o object) bits(start uint64, word *value.Type) *value.Shown {
	n, ok := cxx.FirstNumber(o.V, "__size_")
	capacity, ok2 := cxx.FirstNumber(o.V, "__cap_alloc_", "__cap_")
	if !ok || !ok2 {
		return nil
	}
	size := max(cxx.Size(word), 1)
	bits := 8 * size
	end := o.Wrap(start + uint64(n)/bits*size)
	return &value.Shown{
		Text:     fmt.Sprintf("%s<bool> of length %d, capacity %d", o.Name, n, capacity*int64(bits)),
		Hint:     value.AsArray,
		Children: o.BitRun(word, start, end, uint64(n)%bits),
	}
}

// deque writes a std::deque of libc++: blocks of elements, in a table of pointers to them.
func deque(o object) *value.Shown {
	table, ok := o.V.Member("__map_")
	if !ok {
		return nil
	}
	blocks, block, ok := cxx.FirstPointer(&table, "__begin_")
	first, ok2 := cxx.FirstNumber(o.V, "__start_")
	n, ok3 := cxx.FirstNumber(o.V, "__size_")
	if !ok || !ok2 || !ok3 || first < 0 || n < 0 || block.Strip().Kind != value.Pointer {
		return nil
	}
	elem := block.Strip().Elem()
	size := max(cxx.Size(elem), 1)
	perBlock := uint64(16)
	const blockBytes = 4096
	if size < blockBytes/16 {
		perBlock = blockBytes / size
	}
	return &value.Shown{
		Text: o.Name + " with " + cxx.CountText(n), Hint: value.AsArray,
		Children: cxx.Numbered(func(yield func(value.Value, error) bool) {
			for i := uint64(first); i != uint64(first)+uint64(n); i++ {
				at, err := o.Word(blocks + i/perBlock*o.PtrSize())
				if !yield(o.At(elem, at+i%perBlock*size), err) || err != nil {
					return
				}
			}
		}),
	}
}

// list writes a std::list of libc++: a ring of nodes, in which a part of the list is one. A node
// has the address of the node before it, and then the address of the next.
func list(o object) *value.Shown {
	end, ok := cxx.Member(o.V, "__end_")
	if !ok {
		return nil
	}
	first, _, ok := cxx.FirstPointer(&end, "__next_")
	elem := o.T.Argument(0)
	if !ok || elem == nil {
		return nil
	}
	nodes := o.ChainBy(o.PtrSize(), elem, first, end.Addr, cxx.AlignUp(2*o.PtrSize(), elem.Alignment(false)))
	if end.Place != value.InMemory {
		n, ok := cxx.FirstNumber(o.V, "__size_alloc_", "__size_")
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
func (o object) listOf(nodes iter.Seq2[value.Value, error]) *value.Shown {
	for range nodes {
		return &value.Shown{Text: o.Name, Children: cxx.Numbered(nodes)}
	}
	return &value.Shown{Text: "empty " + o.Name, Children: cxx.Nothing}
}

// limited yields the first n values.
func limited(values iter.Seq2[value.Value, error], n int64) iter.Seq2[value.Value, error] {
	return func(yield func(value.Value, error) bool) {
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

// forwardList writes a std::forward_list of libc++.
func forwardList(o object) *value.Shown {
	head, ok := cxx.First(o.V, "__before_begin_")
	if !ok {
		return nil
	}
	first, _, ok := cxx.FirstPointer(&head, "__next_")
	elem := o.T.Argument(0)
	if !ok || elem == nil {
		return nil
	}
	return o.listOf(o.Chain(elem, first, 0, cxx.AlignUp(o.PtrSize(), elem.Alignment(false))))
}

// bitset writes the bits of a std::bitset that are set.
func bitset(o object) *value.Shown {
	list := o.T.TemplateArguments()
	if len(list) != 1 || list[0].Value == nil || *list[0].Value < 0 {
		return nil
	}
	words, ok := cxx.Member(o.V, "__first_")
	if !ok {
		if *list[0].Value != 0 {
			return nil
		}
		return &value.Shown{Text: o.Name, Children: cxx.Nothing}
	}
	return o.BitsSet(words, uint64(*list[0].Value))
}

// tuple writes a std::tuple of libc++: each element is a base, or, if its class is empty, the base
// of a base.
func tuple(o object) *value.Shown {
	in, ok := o.V.Member("__base_")
	if !ok {
		if cxx.Size(o.T) > 1 {
			return nil
		}
		return &value.Shown{Text: "empty " + o.Name, Children: cxx.Nothing}
	}
	return &value.Shown{Text: o.Name + " containing", Children: func(yield func(value.Child, error) bool) {
		i := 0
		for _, f := range in.Type.Strip().Fields() {
			if template, _ := cxx.Template(f.Type.Strip().Name); !f.Base || template != "__tuple_leaf" {
				continue
			}
			i++
			leaf := in.Field(&f)
			v, ok := ownMember(&leaf, "__value_")
			if !ok {
				if v, ok = cxx.Base(&leaf, 0); !ok {
					v = value.Unknowable(leaf.Type, value.ErrUnavailable)
				}
			}
			if !yield(value.Child{Name: cxx.Index(i), Value: v}, nil) {
				return
			}
		}
	}}
}

// ownMember returns a member that the class of an object itself declares.
func ownMember(v *value.Value, name string) (value.Value, bool) {
	for _, f := range v.Type.Strip().Fields() {
		if f.Name == name && !f.Base {
			return v.Field(&f), true
		}
	}
	return value.Value{}, false
}

// isMap reports whether the name of a container says that its elements are pairs.
func (o object) isMap() bool { return strings.HasSuffix(o.Name, "map") }

// counted writes a std::initializer_list or std::span of libc++. The first is in one namespace in
// all libraries.
func counted(o object) *value.Shown {
	start, elem, ok := cxx.FirstPointer(o.V, "__begin_", "__data_", "__data")
	if !ok {
		return nil
	}
	n, ok := cxx.FirstNumber(o.V, "__size_", "__size")
	if !ok {
		list := o.T.TemplateArguments()
		if len(list) < 2 || list[1].Value == nil {
			return nil
		}
		n = *list[1].Value
	}
	return o.Counted(elem, start, n)
}
