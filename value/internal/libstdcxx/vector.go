package libstdcxx

import (
	"fmt"
	"math"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// vector writes a std::vector.
func vector(o object) *value.Shown {
	if s := o.bits(); s != nil {
		return s
	}
	start, elem, ok := o.PointerTo("_M_impl", "_M_start")
	end, _, ok2 := o.PointerTo("_M_impl", "_M_finish")
	limit, _, ok3 := o.PointerTo("_M_impl", "_M_end_of_storage")
	if !ok || !ok2 || !ok3 {
		return nil
	}
	return o.Sequence(elem, start, end, limit)
}

// bits writes a std::vector<bool>.
func (o object) bits() *value.Shown {
	start, word, ok := o.PointerTo("_M_impl", "_M_start", "_M_p")
	end, _, ok2 := o.PointerTo("_M_impl", "_M_finish", "_M_p")
	offset, ok3 := o.Number("_M_impl", "_M_finish", "_M_offset")
	limit, _, ok4 := o.PointerTo("_M_impl", "_M_end_of_storage")
	if !ok || !ok2 || !ok3 || !ok4 {
		return nil
	}
	size := max(cxx.Size(word), 1)
	length := 8*int64(size)*o.Distance(end, start, size) + offset
	capacity := 8 * int64(size) * o.Distance(limit, start, size)
	return &value.Shown{
		Text:     fmt.Sprintf("%s<bool> of length %d, capacity %d", o.Name, length, capacity),
		Hint:     value.AsArray,
		Children: o.BitRun(word, start, end, uint64(offset)),
	}
}

// initializerList writes a std::initializer_list. It is in one namespace in all libraries: libc++
// has other members.
func initializerList(o object) *value.Shown {
	start, elem, ok := o.PointerTo("_M_array")
	n, ok2 := o.Number("_M_len")
	if !ok || !ok2 {
		return nil
	}
	return o.Counted(elem, start, n)
}

// span writes a std::span.
func span(o object) *value.Shown {
	start, elem, ok := o.PointerTo("_M_ptr")
	if !ok {
		return nil
	}
	n, ok := o.Number("_M_extent", "_M_extent_value")
	if !ok {
		list := o.T.TemplateArguments()
		if len(list) < 2 || list[1].Value == nil {
			return nil
		}
		n = *list[1].Value
	}
	return o.Counted(elem, start, n)
}

// bitset writes a std::bitset.
func bitset(o object) *value.Shown {
	words, ok := cxx.Member(o.V, "_M_w")
	if !ok {
		return &value.Shown{Text: o.Name, Children: cxx.Nothing}
	}
	return o.BitsSet(words, math.MaxUint64)
}
