package libstdcxx

import (
	"iter"
	"strconv"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// tuple writes a std::tuple.
func tuple(o object) *value.Shown {
	if len(o.T.Fields()) == 0 {
		return &value.Shown{Text: "empty " + o.Name, Children: cxx.Nothing}
	}
	return &value.Shown{Text: o.Name + " containing", Children: func(yield func(value.Child, error) bool) {
		i := 1
		for v := range tupleElements(o.V) {
			if !yield(value.Child{Name: "[" + strconv.Itoa(i) + "]", Value: v}, nil) {
				return
			}
			i++
		}
	}}
}

// tupleElements yields the elements of a std::tuple. It is derived from a _Tuple_impl, which is
// derived from the one of the further elements, unless there are none, and from a _Head_base with
// its own element.
func tupleElements(v *value.Value) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		at, ok := cxx.Base(v, 0)
		for range maxTuple {
			if !ok {
				return
			}
			head, more := cxx.Base(&at, 1)
			if !more {
				if head, ok = cxx.Base(&at, 0); !ok {
					return
				}
			}
			if !yield(headElement(&head)) || !more {
				return
			}
			at, ok = cxx.Base(&at, 0)
		}
	}
}

const maxTuple = 1024

// headElement returns the element of a _Head_base: a member, or, of an empty class, what it is
// derived from.
func headElement(head *value.Value) value.Value {
	fields := head.Type.Strip().Fields()
	if len(fields) > 0 && (fields[0].Name == "_M_head_impl" || fields[0].Base) && !fields[0].Virtual {
		return head.Field(&fields[0])
	}
	return *head
}
