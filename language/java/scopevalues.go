package java

import "math/bits"

// scopeValue says where a compiler has a value: a ScopeValue.
type scopeValue struct {
	kind     scopeKind
	bits     uint64 // of a constant; else the location, the number of the object, or the constant's number
	class    uint64 // of an object: the number of the constant that is its java.lang.Class
	fields   []int  // of an object: its fields, among all values that were read
	selector int    // of a merge: the value that says which object it is; the object is there if it is -1
	merged   int    // of a merge: the value that is the object that is there
}

type scopeKind uint8

// The kinds of values, with HotSpot's numbers.
const (
	valueLocation scopeKind = iota
	valueInt
	valueReference // a constant
	valueLong
	valueDouble
	valueObject // which is not there: the compiler has its fields
	valueObjectID
	valueBox // an object, too
	valueMarker
	valueMerge // one of several objects
)

// Bounds for the values of one scope, and of one place.
const (
	mostValues = 1 << 12
	mostNested = 32
)

// scopeValues reads values.
type scopeValues struct {
	numbers
	all []scopeValue
	bad bool
}

// list reads a list of values, and returns the first n of them.
func (s *scopeValues) list() (list []int) {
	for n := s.next(); n > 0 && !s.short && !s.bad; n-- {
		list = append(list, s.value(0))
	}
	return list
}

// value reads a value, and returns its place in s.all.
func (s *scopeValues) value(depth int) int {
	if len(s.all) == mostValues || depth == mostNested {
		s.bad = true
		return -1
	}
	v := scopeValue{kind: scopeKind(min(s.next(), 0xff))}
	at := len(s.all)
	s.all = append(s.all, v)
	half := func() uint64 { return uint64(uint32(s.signed())) }
	switch v.kind {
	case valueLocation, valueReference, valueObjectID:
		v.bits = uint64(s.next())
	case valueInt:
		v.bits = half()
	case valueLong:
		v.bits = half()
		v.bits |= half() << 32
	case valueDouble:
		v.bits = uint64(bits.Reverse32(s.next())) << 32
		v.bits |= uint64(bits.Reverse32(s.next()))
	case valueObject, valueBox:
		v.bits = uint64(s.next())
		s.flag()
		class := s.value(depth + 1)
		if s.bad || s.all[class].kind != valueReference {
			s.bad = true
			break
		}
		v.class = s.all[class].bits
		for n := s.next(); n > 0 && !s.short && !s.bad; n-- {
			v.fields = append(v.fields, s.value(depth+1))
		}
	case valueMerge:
		v.bits = uint64(s.next())
		v.selector, v.merged = s.value(depth+1), s.value(depth+1)
		for n := s.next(); n > 0 && !s.short && !s.bad; n-- {
			v.fields = append(v.fields, s.value(depth+1))
		}
	case valueMarker:
	default:
		s.bad = true
	}
	s.all[at] = v
	return at
}

// flag skips the byte that newer releases have before an object's class: true or false. The class
// is always a constant reference, and that one's number is neither.
func (s *scopeValues) flag() {
	if len(s.bytes) > 0 && s.bytes[0] != uint8(valueReference)+s.least {
		s.bytes = s.bytes[1:]
	}
}
