package value

import (
	"fmt"
	"iter"
	"math"
	"strconv"
)

// span of addresses: count elements of a type from an address on. Of a hostile container, the end may not be reached
// by whole elements: then elements follow without an end, as they do in GDB.
func (o *object) run(elem *Type, start, end uint64) iter.Seq2[Value, error] {
	size := max(elem.sizeOrZero(), 1)
	return func(yield func(Value, error) bool) {
		for at := start; at != end; at = o.t.r.Arch.Wrap(at + size) {
			if !yield(o.at(elem, at), nil) {
				return
			}
		}
	}
}

func (t *Type) sizeOrZero() uint64 {
	n, _ := t.SizeOf()
	return n
}

// distance returns the difference of two pointers to elements of a size.
func (o *object) distance(end, start, size uint64) int64 {
	n := int64(end - start)
	if o.ptrSize() == 4 {
		n = int64(int32(n))
	}
	return n / int64(max(size, 1))
}

// vector writes a std::vector.
func vector(o *object) *shown {
	if s := o.bits(); s != nil {
		return s
	}
	start, elem, ok := o.pointerTo("_M_impl", "_M_start")
	end, _, ok2 := o.pointerTo("_M_impl", "_M_finish")
	limit, _, ok3 := o.pointerTo("_M_impl", "_M_end_of_storage")
	if !ok || !ok2 || !ok3 {
		return nil
	}
	return o.sequence(elem, start, end, limit)
}

// sequence writes elements that lie one behind the other.
func (o *object) sequence(elem *Type, start, end, limit uint64) *shown {
	size := elem.sizeOrZero()
	return &shown{
		text:     fmt.Sprintf("%s of length %d, capacity %d", o.name, o.distance(end, start, size), o.distance(limit, start, size)),
		hint:     asArray,
		children: numbered(o.run(elem, start, end)),
	}
}

// bits writes a std::vector<bool>.
func (o *object) bits() *shown {
	start, word, ok := o.pointerTo("_M_impl", "_M_start", "_M_p")
	end, _, ok2 := o.pointerTo("_M_impl", "_M_finish", "_M_p")
	offset, ok3 := o.number("_M_impl", "_M_finish", "_M_offset")
	limit, _, ok4 := o.pointerTo("_M_impl", "_M_end_of_storage")
	if !ok || !ok2 || !ok3 || !ok4 {
		return nil
	}
	size := max(word.sizeOrZero(), 1)
	length := 8*int64(size)*o.distance(end, start, size) + offset
	capacity := 8 * int64(size) * o.distance(limit, start, size)
	return &shown{
		text:     fmt.Sprintf("%s<bool> of length %d, capacity %d", o.name, length, capacity),
		hint:     asArray,
		children: o.bitRun(word, start, end, uint64(offset)),
	}
}

// bitRun yields bits from the first of the word at start to the one that is behind so many of the word at end.
func (o *object) bitRun(word *Type, start, end, offset uint64) iter.Seq[child] {
	return func(yield func(child) bool) {
		size := max(word.sizeOrZero(), 1)
		i := 0
		for at := start; ; at = o.t.r.Arch.Wrap(at + size) {
			for bit := uint64(0); bit < 8*size; bit++ {
				if at == end && bit >= offset {
					return
				}
				v := o.at(word, at)
				n, err := v.Uint()
				if !yield(child{name: index(i), text: strconv.FormatBool(n>>bit&1 != 0), err: err}) {
					return
				}
				i++
			}
		}
	}
}

// initializerList writes a std::initializer_list, which is in one namespace in all libraries.
func initializerList(o *object) *shown {
	start, elem, ok := o.pointerTo("_M_array")
	n, ok2 := o.number("_M_len")
	if !ok || !ok2 {
		return libcxxCounted(o)
	}
	return o.counted(elem, start, n)
}

// span writes a std::span.
func span(o *object) *shown {
	start, elem, ok := o.pointerTo("_M_ptr")
	if !ok {
		return nil
	}
	n, ok := o.number("_M_extent", "_M_extent_value")
	if !ok {
		list := o.t.TemplateArguments()
		if len(list) < 2 || list[1].Value == nil {
			return nil
		}
		n = *list[1].Value
	}
	return o.counted(elem, start, n)
}

// counted writes n elements from start on.
func (o *object) counted(elem *Type, start uint64, n int64) *shown {
	size := elem.sizeOrZero()
	return &shown{
		text: fmt.Sprintf("%s of length %d", o.name, n),
		hint: asArray,
		children: numbered(func(yield func(Value, error) bool) {
			for i := uint64(0); i != uint64(n); i++ {
				if !yield(o.at(elem, start+i*size), nil) {
					return
				}
			}
		}),
	}
}

// bitset writes a std::bitset.
func bitset(o *object) *shown {
	words, ok := o.v.member("_M_w")
	if !ok {
		return &shown{text: o.name, children: nothing}
	}
	return o.bitsSet(words, math.MaxUint64)
}

// bitsSet writes those of the first bits of some words that are set.
func (o *object) bitsSet(words Value, bits uint64) *shown {
	t := words.Type.Strip()
	word := t
	if t.Kind == Array {
		word = t.Elem()
	}
	size := max(word.sizeOrZero(), 1)
	n := t.sizeOrZero() / size
	return &shown{text: o.name, children: func(yield func(child) bool) {
		for i := range n {
			w := words
			if t.Kind == Array {
				w = words.Index(i)
			}
			set, err := w.Uint()
			for b := 8 * size * i; set != 0 && b < bits; b, set = b+1, set>>1 {
				if set&1 != 0 && !yield(child{name: index(int(b)), text: "1"}) {
					return
				}
			}
			if err != nil || i&0xfff == 0 && !o.w.Spend(1) {
				return
			}
		}
	}}
}

// adaptor writes a std::stack, queue or priority_queue.
func adaptor(o *object) *shown {
	c, ok := o.v.member("c")
	if !ok {
		return nil
	}
	s := o.w.cxxShown(&c, c.Type.Strip())
	if s == nil || s.children == nil {
		return nil
	}
	s.text = o.name + " wrapping: " + s.text
	return s
}
