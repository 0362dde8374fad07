package value

import (
	"iter"
	"strconv"
)

// pair writes a std::pair.
func pair(o *object) *shown {
	first, ok := o.v.oneMember("first", 0)
	second, ok2 := o.v.oneMember("second", 0)
	if !ok || !ok2 {
		return nil
	}
	return &shown{bare: true, children: func(yield func(child) bool) {
		_ = yield(child{name: "first", value: first}) && yield(child{name: "second", value: second})
	}}
}

// tuple writes a std::tuple.
func tuple(o *object) *shown {
	if len(o.t.Fields()) == 0 {
		return &shown{text: "empty " + o.name, children: nothing}
	}
	return &shown{text: o.name + " containing", children: func(yield func(child) bool) {
		i := 1
		for v := range tupleElements(o.v) {
			if !yield(child{name: "[" + strconv.Itoa(i) + "]", value: v}) {
				return
			}
			i++
		}
	}}
}

// tupleElements yields the elements of a std::tuple. It is derived from a _Tuple_impl, which is derived from the one of the further
// elements, unless there are none, and from a _Head_base with its own element.
func tupleElements(v *Value) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		at, ok := v.base(0)
		for range maxTuple {
			if !ok {
				return
			}
			head, more := at.base(1)
			if !more {
				if head, ok = at.base(0); !ok {
					return
				}
			}
			if !yield(headElement(&head)) || !more {
				return
			}
			at, ok = at.base(0)
		}
	}
}

const maxTuple = 1024

// headElement returns the element of a _Head_base: a member, or, of an empty class, what it is derived from.
func headElement(head *Value) Value {
	fields := head.Type.Strip().Fields()
	if len(fields) > 0 && (fields[0].Name == "_M_head_impl" || fields[0].Base) && !fields[0].Virtual {
		return head.Field(&fields[0])
	}
	return *head
}
