package value

import (
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// fortranElement evaluates array(i, j) of Fortran. ok is false if what stands before the
// parentheses is no array.
func (e *evaluation) fortranElement(n *syntax.Node) (v Value, ok bool, err error) {
	if v, err = e.value(n.Args[0]); err != nil {
		return v, false, err
	}
	return e.fortranIndexed(v, n)
}

// fortranIndexed is fortranElement for the array v. The first index varies fastest, so it is the
// innermost.
func (e *evaluation) fortranIndexed(v Value, n *syntax.Node) (Value, bool, error) {
	v = referred(v)
	if v.describe(); v.Type.Strip().Kind != Array {
		return v, false, nil
	}
	indices := n.Args[1:]
	for k := len(indices) - 1; k >= 0; k-- {
		t := v.Type.Strip()
		if t.Kind != Array {
			return v, false, e.fail(n.At, "Wrong number of subscripts")
		}
		i, err := e.coerced(indices[k])
		if err != nil {
			return v, false, err
		}
		at, err := e.wholeNumber(&i, indices[k].At)
		if err != nil {
			return v, false, err
		}
		b := t.Bounds()
		if at < b.Lower || b.Known && uint64(at-b.Lower) >= b.Count {
			return v, false, e.fail(indices[k].At, "no such vector element")
		}
		v = v.Index(uint64(at - b.Lower))
	}
	if t := v.Type.Strip(); t.Kind == Array && !e.isFortranText(t) {
		return v, false, e.fail(n.At, "Wrong number of subscripts")
	}
	return v, true, nil
}

// isFortranText reports whether an array is a text: of one dimension, of characters.
func (e *evaluation) isFortranText(t *Type) bool {
	return t.Elem().bare().Kind == Char
}

// fortranMember evaluates object%member and object%member(i) of Fortran.
func (e *evaluation) fortranMember(n *syntax.Node) (v Value, ok bool, err error) {
	right := n.Args[1]
	name := right
	if right.Kind == syntax.Call {
		name = right.Args[0]
	}
	if name.Kind != syntax.Name {
		return v, false, nil
	}
	object, err := e.value(n.Args[0])
	if err != nil {
		return v, false, err
	}
	object = referred(object)
	for range maxNames {
		if object.Type.Strip().Kind != Pointer {
			break
		}
		object = referred(object.Deref())
	}
	if object.Type.Strip().Kind != Struct {
		return v, false, nil
	}
	if v, err = e.memberOf(&object, strings.ToLower(name.Text), "structure", name.At); err != nil || name == right {
		return v, true, err
	}
	v, ok, err = e.fortranIndexed(v, right)
	if err == nil && !ok {
		err = e.fail(right.At, "Cannot perform substring on this type")
	}
	return v, true, err
}
