package libstdcxx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// operand returns an object of the library, and the name of its type without namespaces and
// arguments; "" if v is none. The error says why the object is not known.
func operand(v *value.Value) (o object, name string, err error) {
	t := v.Type.Strip()
	name, _, _ = strings.Cut(t.Name, "<")
	if t.Kind != value.Struct || t.Declared || t.Language() != "c++" {
		return o, "", nil
	}
	switch name {
	case "_Node_iterator", "_Node_const_iterator":
	case "array", "reference_wrapper":
		if !strings.HasPrefix(t.FullName(), "std::"+name+"<") {
			return o, "", nil
		}
	default:
		if print, _ := find(t); print == nil {
			return o, "", nil
		}
	}
	return object{&cxx.Object{V: v, T: t}}, name, v.Err()
}

// Deref implements value.Operators.
func (Printer) Deref(v *value.Value) (to value.Value, ok bool, err error) {
	o, name, err := operand(v)
	if name == "" || err != nil {
		return to, false, err
	}
	if p, ok := o.smartPointer(name); ok {
		return p.Deref(), true, nil
	}
	elem := o.T.Argument(0)
	if elem == nil {
		return to, false, nil
	}
	node := func(member string, offset uint64) (value.Value, bool, error) {
		addr, _, ok := o.PointerTo(member)
		if !ok {
			return to, false, nil
		}
		return o.At(elem, addr+offset), true, nil
	}
	switch name {
	case "optional":
		x, engaged, ok := o.optionalValue()
		if ok && !engaged {
			return to, false, errNoValue
		}
		return x, ok, nil
	case "__normal_iterator", "_Deque_iterator", "_Deque_const_iterator":
		for _, member := range [...]string{"_M_current", "_M_cur"} {
			if addr, elem, ok := o.PointerTo(member); ok {
				return o.At(elem, addr), true, nil
			}
		}
	case "_List_iterator", "_List_const_iterator":
		return node("_M_node", cxx.AlignUp(2*o.PtrSize(), elem.Alignment(false)))
	case "_Fwd_list_iterator", "_Fwd_list_const_iterator":
		return node("_M_node", cxx.AlignUp(o.PtrSize(), elem.Alignment(true)))
	case "_Rb_tree_iterator", "_Rb_tree_const_iterator":
		return node("_M_node", cxx.AlignUp(treeWords*o.PtrSize(), elem.Alignment(false)))
	case "_Node_iterator", "_Node_const_iterator":
		return node("_M_cur", cxx.AlignUp(o.PtrSize(), elem.Alignment(true)))
	}
	return to, false, nil
}

var errNoValue = errors.New("the optional has no value")

// smartPointer returns the pointer in a std::unique_ptr, std::shared_ptr, std::weak_ptr or
// std::reference_wrapper.
func (o object) smartPointer(name string) (value.Value, bool) {
	switch name {
	case "unique_ptr":
		return uniquePointer(o.V)
	case "shared_ptr", "weak_ptr":
		return cxx.Member(o.V, "_M_ptr")
	case "reference_wrapper":
		return cxx.Member(o.V, "_M_data")
	}
	return value.Value{}, false
}

// optionalValue returns the value in a std::optional.
func (o object) optionalValue() (x value.Value, engaged, ok bool) {
	n, ok := o.Number("_M_payload", "_M_engaged")
	if !ok || n == 0 {
		return x, false, ok
	}
	for _, names := range optionalValues {
		if x, ok = cxx.Member(o.V, names...); ok {
			return x, true, true
		}
	}
	return x, false, false
}

// Run implements value.Operators, for strings and vectors.
func (Printer) Run(v *value.Value) (run value.Run, ok bool, err error) {
	o, name, err := operand(v)
	if name == "" || err != nil {
		return run, false, err
	}
	switch name {
	case "basic_string":
		run.Addr, _, ok = o.PointerTo("_M_dataplus", "_M_p")
		n, has := o.Number("_M_string_length")
		if !has && ok {
			word, err := o.Word(run.Addr - 3*o.PtrSize())
			n, has = int64(word), err == nil
		}
		run.Len, ok = n, ok && has
	case "basic_string_view":
		run.Addr, _, ok = o.PointerTo("_M_str")
		n, has := o.Number("_M_len")
		run.Len, ok = n, ok && has
	case "vector":
		return o.vectorRun()
	}
	run.Elem, run.Cap, run.Text = o.T.Argument(0), run.Len, true
	return run, ok && run.Elem != nil, nil
}

func (o object) vectorRun() (run value.Run, ok bool, err error) {
	start, elem, ok := o.PointerTo("_M_impl", "_M_start")
	end, _, ok2 := o.PointerTo("_M_impl", "_M_finish")
	limit, _, ok3 := o.PointerTo("_M_impl", "_M_end_of_storage")
	if !ok || !ok2 || !ok3 { // as of a std::vector<bool>
		return run, false, nil
	}
	size := cxx.Size(elem)
	return value.Run{Elem: elem, Addr: start, Len: o.Distance(end, start, size), Cap: o.Distance(limit, start, size)}, true, nil
}

// Index implements value.Operators.
func (p Printer) Index(v *value.Value, i int64, checked bool) (x value.Value, ok bool, err error) {
	o, name, err := operand(v)
	if name == "" || err != nil {
		return x, false, err
	}
	switch name {
	case "basic_string", "basic_string_view":
		run, ok, err := p.Run(v)
		switch {
		case !ok || err != nil:
			return x, false, err
		case i < 0 || uint64(i) > uint64(run.Len):
			return x, false, fmt.Errorf("index %d is outside of the string of %d characters", i, run.Len)
		}
		return o.At(run.Elem, run.Addr+uint64(i)*cxx.Size(run.Elem)), true, nil
	case "array":
		elems, ok := cxx.Member(v, "_M_elems")
		if !ok {
			return x, false, nil
		}
		if b := elems.Type.Strip().Bounds(); i < 0 || uint64(i) >= b.Count {
			return x, false, fmt.Errorf("index %d is outside of the array of %d elements", i, b.Count)
		}
		return elems.Index(uint64(i)), true, nil
	case "unique_ptr":
		if p, ok := o.smartPointer(name); ok {
			addr, err := p.Uint()
			elem := p.Type.Strip().Elem()
			return o.At(elem, addr+uint64(i)*cxx.Size(elem)), err == nil, err
		}
	case "vector": // the operator does not look for the end
		if addr, elem, ok := o.PointerTo("_M_impl", "_M_start"); ok && !checked {
			return o.At(elem, addr+uint64(i)*cxx.Size(elem)), true, nil
		}
	}
	return x, false, nil
}

// Method implements value.Operators.
func (p Printer) Method(v *value.Value, method string) (x value.Value, ok bool, err error) {
	o, name, err := operand(v)
	if name == "" || err != nil {
		return x, false, err
	}
	r := o.T.Reader()
	switch method {
	case "size", "length":
		if run, ok, err := p.Run(v); ok && run.Text {
			return r.Number("unsigned long", run.Len), true, err
		}
		n, ok := cxx.Count(v, name)
		return r.Number("unsigned long", n), ok, nil
	case "get", "data", "c_str":
		if run, ok, err := p.Run(v); ok {
			return v.PointerTo(run.Elem, run.Addr), true, err
		}
		p, ok := o.smartPointer(name)
		if ok && name == "reference_wrapper" {
			p = p.Deref()
		}
		return p, ok, nil
	case "value", "has_value":
		if name == "optional" {
			return o.optionalMethod(method)
		}
	case "use_count":
		counts, _, ok := o.PointerTo("_M_refcount", "_M_pi")
		use := int32(0)
		if ok && counts != 0 {
			use, _, err = o.counts(counts)
		}
		return r.Number("long", int64(use)), ok && err == nil, err
	}
	return x, false, nil
}

// optionalMethod returns what value or has_value of a std::optional returns.
func (o object) optionalMethod(method string) (x value.Value, ok bool, err error) {
	x, engaged, ok := o.optionalValue()
	switch {
	case !ok:
		return x, false, nil
	case method == "has_value" && engaged:
		return o.T.Reader().Number("bool", 1), true, nil
	case method == "has_value":
		return o.T.Reader().Number("bool", 0), true, nil
	case !engaged:
		return x, false, errNoValue
	}
	return x, true, nil
}
