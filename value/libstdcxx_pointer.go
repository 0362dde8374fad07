package value

import (
	"fmt"
	"strings"
)

// getter is the child of a smart pointer.
func getter(v Value) func(func(child) bool) {
	return func(yield func(child) bool) { yield(child{name: "get()", value: v}) }
}

// uniquePtr writes a std::unique_ptr.
func uniquePtr(o *object) *shown {
	elem := o.t.argument(0)
	p, ok := uniquePointer(o.v)
	if elem == nil || !ok {
		return nil
	}
	return &shown{text: "std::unique_ptr<" + elem.String() + ">", children: getter(p)}
}

// uniquePointer returns the pointer that a std::unique_ptr has: in a tuple with the deleter, which since GCC 7 is a member of a member.
func uniquePointer(v *Value) (Value, bool) {
	for _, names := range [...][]string{{"_M_t", "_M_t"}, {"_M_t"}} {
		t, ok := v.member(names...)
		if !ok {
			continue
		}
		if name, _ := cxxTemplate(t.Type.Strip().FullName()); strings.HasSuffix(name, "::tuple") {
			for e := range tupleElements(&t) {
				return e, true
			}
		}
	}
	return Value{}, false
}

// sharedPtr writes a std::shared_ptr or std::weak_ptr.
func sharedPtr(o *object) *shown {
	counts, _, ok := o.pointerTo("_M_refcount", "_M_pi")
	if !ok {
		return nil
	}
	return o.shared(counts)
}

// shared writes a pointer of which the counts are at an address.
func (o *object) shared(counts uint64) *shown {
	p, ok := o.v.member("_M_ptr")
	elem := o.t.argument(0)
	if !ok && !Gone(p.Err()) || elem == nil { // a pointer that is optimized out is shown as such
		return nil
	}
	s := &shown{children: getter(p)}
	state := "empty"
	if counts != 0 {
		use, weak, err := o.counts(counts)
		switch {
		case err != nil:
			s.err = err
		case use == 0:
			state = fmt.Sprintf("expired, weak count %d", weak)
		default:
			state = fmt.Sprintf("use count %d, weak count %d", use, weak-1)
		}
	}
	s.text = fmt.Sprintf("%s<%s> (%s)", o.name, strings.ReplaceAll(elem.String(), "__8::", ""), state)
	return s
}

// counts reads the use count and the weak count of a _Sp_counted_base: two numbers behind its table of virtual functions.
func (o *object) counts(addr uint64) (use, weak int32, err error) {
	var b [8]byte
	if err := o.v.ReadMemory(o.t.r.Arch.Wrap(addr+o.ptrSize()), b[:]); err != nil {
		return 0, 0, err
	}
	order := o.t.ByteOrder()
	return int32(order.Uint32(b[:])), int32(order.Uint32(b[4:])), nil
}

// atomic writes a std::atomic.
func atomic(o *object) *shown {
	of := o.t.argument(0)
	if of == nil {
		return nil
	}
	s := of.Strip()
	if name, _ := cxxTemplate(s.FullName()); name == "std::shared_ptr" || name == "std::weak_ptr" {
		impl, ok := o.v.member("_M_impl")
		if !ok {
			return nil
		}
		in := &object{w: o.w, v: &impl, t: impl.Type.Strip(), name: o.name}
		bits, ok := in.number("_M_refcount", "_M_val", "_M_i")
		if !ok {
			return nil
		}
		return in.shared(uint64(bits) &^ 1) // without the lock
	}
	names := []string{"_M_i"}
	switch s.Kind {
	case Float:
		names = []string{"_M_fp"}
	case Pointer:
		names = []string{"_M_b", "_M_p"}
	case Bool:
		names = []string{"_M_base", "_M_i"}
	}
	v, ok := o.v.member(names...)
	if !ok {
		return nil
	}
	return o.w.textOf(o.name+"<"+of.String()+"> = { ", &v, " }")
}
