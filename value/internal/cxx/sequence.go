package cxx

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/sfwalk/sfwalk/value"
)

// span of addresses: count elements of a type from an address on. Of a hostile container, the end
// may not be reached by whole elements: then elements follow without an end, as they do in GDB.
func (o *Object) Run(elem *value.Type, start, end uint64) iter.Seq2[value.Value, error] {
	size := max(Size(elem), 1)
	return func(yield func(value.Value, error) bool) {
		for at := start; at != end; at = o.Wrap(at + size) {
			if !yield(o.At(elem, at), nil) {
				return
			}
		}
	}
}

// Distance returns the difference of two pointers to elements of a size.
func (o *Object) Distance(end, start, size uint64) int64 {
	n := int64(end - start)
	if o.PtrSize() == 4 {
		n = int64(int32(n))
	}
	return n / int64(max(size, 1))
}

// Sequence writes elements that lie one behind the other.
func (o *Object) Sequence(elem *value.Type, start, end, limit uint64) *value.Shown {
	size := Size(elem)
	return &value.Shown{
		Text:     fmt.Sprintf("%s of length %d, capacity %d", o.Name, o.Distance(end, start, size), o.Distance(limit, start, size)),
		Hint:     value.AsArray,
		Children: Numbered(o.Run(elem, start, end)),
	}
}

// Counted writes n elements from start on.
func (o *Object) Counted(elem *value.Type, start uint64, n int64) *value.Shown {
	size := Size(elem)
	return &value.Shown{
		Text: fmt.Sprintf("%s of length %d", o.Name, n),
		Hint: value.AsArray,
		Children: Numbered(func(yield func(value.Value, error) bool) {
			for i := uint64(0); i != uint64(n); i++ {
				if !yield(o.At(elem, start+i*size), nil) {
					return
				}
			}
		}),
	}
}

// BitRun yields bits from the first of the word at start to the one that is behind so many of the
// word at end.
func (o *Object) BitRun(word *value.Type, start, end, offset uint64) iter.Seq2[value.Child, error] {
	return func(yield func(value.Child, error) bool) {
		size := max(Size(word), 1)
		i := 0
		for at := start; ; at = o.Wrap(at + size) {
			for bit := uint64(0); bit < 8*size; bit++ {
				if at == end && bit >= offset {
					return
				}
				v := o.At(word, at)
				n, err := v.Uint()
				if !yield(value.Child{Name: Index(i), Text: strconv.FormatBool(n>>bit&1 != 0)}, err) {
					return
				}
				i++
			}
		}
	}
}

// BitsSet writes which of the first bits of some words are set.
func (o *Object) BitsSet(words value.Value, bits uint64) *value.Shown {
	t := words.Type.Strip()
	word := t
	if t.Kind == value.Array {
		word = t.Elem()
	}
	size := max(Size(word), 1)
	n := Size(t) / size
	return &value.Shown{Text: o.Name, Children: func(yield func(value.Child, error) bool) {
		for i := range n {
			w := words
			if t.Kind == value.Array {
				w = words.Index(i)
			}
			set, err := w.Uint()
			for b := 8 * size * i; set != 0 && b < bits; b, set = b+1, set>>1 {
				if set&1 != 0 && !yield(value.Child{Name: Index(int(b)), Text: "1"}, nil) {
					return
				}
			}
			if err != nil || i&0xfff == 0 && !o.W.Spend(1) {
				return
			}
		}
	}}
}
