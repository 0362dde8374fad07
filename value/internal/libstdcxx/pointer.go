package libstdcxx

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// uniquePtr writes a std::unique_ptr.
func uniquePtr(o object) *value.Shown {
	elem := o.T.Argument(0)
	p, ok := uniquePointer(o.V)
	if elem == nil || !ok {
		return nil
	}
	return &value.Shown{Text: "std::unique_ptr<" + elem.String() + ">", Children: cxx.Getter(p)}
}

// uniquePointer returns the pointer that a std::unique_ptr has: in a tuple with the deleter, which
// since GCC 7 is a member of a member.
func uniquePointer(v *value.Value) (value.Value, bool) {
	for _, names := range [...][]string{{"_M_t", "_M_t"}, {"_M_t"}} {
		t, ok := cxx.Member(v, names...)
		if !ok {
			continue
		}
		if name, _ := cxx.Template(t.Type.Strip().FullName()); strings.HasSuffix(name, "::tuple") {
			for e := range tupleElements(&t) {
				return e, true
			}
		}
	}
	return value.Value{}, false
}

// sharedPtr writes a std::shared_ptr or std::weak_ptr.
func sharedPtr(o object) *value.Shown {
	counts, _, ok := o.PointerTo("_M_refcount", "_M_pi")
	if !ok {
		return nil
	}
	return o.shared(counts)
}

// shared writes a pointer of which the counts are at an address.
func (o object) shared(counts uint64) *value.Shown {
	p, ok := cxx.Member(o.V, "_M_ptr")
	elem := o.T.Argument(0)
	if !ok && !value.IsAbsent(p.Err()) || elem == nil { // a pointer that is optimized out is shown as such
		return nil
	}
	s := &value.Shown{Children: cxx.Getter(p)}
	state := "empty"
	if counts != 0 {
		use, weak, err := o.counts(counts)
		switch {
		case err != nil:
			s.Err = err
		case use == 0:
			state = fmt.Sprintf("expired, weak count %d", weak)
		default:
			state = fmt.Sprintf("use count %d, weak count %d", use, weak-1)
		}
	}
	s.Text = fmt.Sprintf("%s<%s> (%s)", o.Name, strings.ReplaceAll(elem.String(), "__8::", ""), state)
	return s
}

// counts reads the use count and the weak count of a _Sp_counted_base: two numbers behind its table
// of virtual functions.
func (o object) counts(addr uint64) (use, weak int32, err error) {
	var b [8]byte
	if err := o.V.ReadMemory(o.Wrap(addr+o.PtrSize()), b[:]); err != nil {
		return 0, 0, err
	}
	order := o.T.ByteOrder()
	return int32(order.Uint32(b[:])), int32(order.Uint32(b[4:])), nil
}

// atomic writes a std::atomic.
func atomic(o object) *value.Shown {
	of := o.T.Argument(0)
	if of == nil {
		return nil
	}
	s := of.Strip()
	if name, _ := cxx.Template(s.FullName()); name == "std::shared_ptr" || name == "std::weak_ptr" {
		impl, ok := cxx.Member(o.V, "_M_impl")
		if !ok {
			return nil
		}
		in := object{&cxx.Object{W: o.W, V: &impl, T: impl.Type.Strip(), Name: o.Name}}
		bits, ok := in.Number("_M_refcount", "_M_val", "_M_i")
		if !ok {
			return nil
		}
		return in.shared(uint64(bits) &^ 1) // without the lock
	}
	names := []string{"_M_i"}
	switch s.Kind {
	case value.Float:
		names = []string{"_M_fp"}
	case value.Pointer:
		names = []string{"_M_b", "_M_p"}
	case value.Bool:
		names = []string{"_M_base", "_M_i"}
	}
	v, ok := cxx.Member(o.V, names...)
	if !ok {
		return nil
	}
	return o.TextOf(o.Name+"<"+of.String()+"> = { ", &v, " }")
}
