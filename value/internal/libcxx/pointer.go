package libcxx

import (
	"fmt"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// uniquePtr writes a std::unique_ptr of libc++.
func uniquePtr(o object) *value.Shown {
	elem := o.T.Argument(0)
	p, ok := cxx.First(o.V, "__ptr_")
	if elem == nil || !ok {
		return nil
	}
	return &value.Shown{Text: o.Name + "<" + o.Without(elem.String()) + ">", Children: cxx.Getter(p)}
}

// sharedPtr writes a std::shared_ptr or std::weak_ptr of libc++. The counts are behind a table of
// virtual functions: of owners, less one; and of weak owners, less one, among which all other
// owners count as one.
func sharedPtr(o object) *value.Shown {
	p, ok := cxx.First(o.V, "__ptr_")
	counts, _, ok2 := cxx.FirstPointer(o.V, "__cntrl_")
	elem := o.T.Argument(0)
	if !ok || !ok2 || elem == nil {
		return nil
	}
	s := &value.Shown{Children: cxx.Getter(p)}
	state := "empty"
	if counts != 0 {
		use, err := o.Word(counts + o.PtrSize())
		weak, err2 := o.Word(counts + 2*o.PtrSize())
		switch {
		case err != nil:
			s.Err = err
		case err2 != nil:
			s.Err = err2
		case o.signed(use) == -1:
			state = fmt.Sprintf("expired, weak count %d", o.signed(weak)+1)
		default:
			state = fmt.Sprintf("use count %d, weak count %d", o.signed(use)+1, o.signed(weak))
		}
	}
	s.Text = fmt.Sprintf("%s<%s> (%s)", o.Name, o.Without(elem.String()), state)
	return s
}

// signed returns a word as a number with a sign.
func (o object) signed(word uint64) int64 {
	if o.PtrSize() == 4 {
		return int64(int32(word))
	}
	return int64(word)
}

// atomic writes a std::atomic of libc++.
func atomic(o object) *value.Shown {
	of := o.T.Argument(0)
	v, ok := cxx.Member(o.V, "__a_", "__a_value")
	if of == nil || !ok {
		return nil
	}
	v = v.Part(of, 0)
	return o.TextOf(o.Name+"<"+o.Without(of.String())+"> = { ", &v, " }")
}
