package value

import "fmt"

// libcxxUniquePtr writes a std::unique_ptr of libc++.
func libcxxUniquePtr(o *object) *shown {
	elem := o.t.argument(0)
	p, ok := o.v.libcxxMember("__ptr_")
	if elem == nil || !ok {
		return nil
	}
	return &shown{text: o.name + "<" + o.without(elem.String()) + ">", children: getter(p)}
}

// libcxxSharedPtr writes a std::shared_ptr or std::weak_ptr of libc++. The counts are behind a table of virtual functions: of owners, less one;
// and of weak owners, less one, among which all other owners count as one.
func libcxxSharedPtr(o *object) *shown {
	p, ok := o.v.libcxxMember("__ptr_")
	counts, _, ok2 := o.v.libcxxPointer("__cntrl_")
	elem := o.t.argument(0)
	if !ok || !ok2 || elem == nil {
		return nil
	}
	s := &shown{children: getter(p)}
	state := "empty"
	if counts != 0 {
		use, err := o.word(counts + o.ptrSize())
		weak, err2 := o.word(counts + 2*o.ptrSize())
		switch {
		case err != nil || err2 != nil:
			s.err = firstOf(err, err2)
		case o.signed(use) == -1:
			state = fmt.Sprintf("expired, weak count %d", o.signed(weak)+1)
		default:
			state = fmt.Sprintf("use count %d, weak count %d", o.signed(use)+1, o.signed(weak))
		}
	}
	s.text = fmt.Sprintf("%s<%s> (%s)", o.name, o.without(elem.String()), state)
	return s
}

// signed returns a word as a number with a sign.
func (o *object) signed(word uint64) int64 {
	if o.ptrSize() == 4 {
		return int64(int32(word))
	}
	return int64(word)
}

// libcxxAtomic writes a std::atomic of libc++.
func libcxxAtomic(o *object) *shown {
	of := o.t.argument(0)
	v, ok := o.v.member("__a_", "__a_value")
	if of == nil || !ok {
		return nil
	}
	v = v.as(of)
	return o.w.textOf(o.name+"<"+o.without(of.String())+"> = { ", &v, " }")
}
