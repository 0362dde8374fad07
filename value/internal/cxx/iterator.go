package cxx

import (
	"strconv"

	"github.com/sfwalk/sfwalk/value"
)

// Dereferenced writes what an iterator points to as the iterator's text.
func (o *Object) Dereferenced(v value.Value) *value.Shown { return o.InNode(v, v.Addr) }

// InNode is dereferenced, of a value in a node.
func (o *Object) InNode(v value.Value, node uint64) *value.Shown {
	if _, ok := v.Type.SizeOf(); !ok { // the debug information has no more than the name of its type
		return nil
	}
	if _, err := o.Word(node); err != nil && v.Addr != node {
		return &value.Shown{Err: err}
	}
	return o.TextOf("", &v, "")
}

// NotDereferenceable writes an iterator that points nowhere.
func NotDereferenceable(of string) *value.Shown {
	return &value.Shown{Text: "non-dereferenceable iterator for " + of}
}

// BitAt writes a bit of the word at an address.
func (o *Object) BitAt(at uint64, word *value.Type, mask uint64, reference bool) *value.Shown {
	switch {
	case at == 0 && reference:
		return &value.Shown{Text: "invalid std::vector<bool>::reference"}
	case at == 0:
		return NotDereferenceable("std::vector<bool>")
	}
	v := o.At(word, at)
	n, err := v.Uint()
	return &value.Shown{Text: strconv.FormatBool(n&mask != 0), Err: err}
}
