package value

import (
	"cmp"
	"debug/dwarf"
)

// rank says how well an argument fits a parameter: 0 is best in each respect, and the first that
// differs decides.
type rank struct {
	level fit
	depth int // how far a base is, and what is worse than any base
	bind  int // how a reference or pointer fits that has other qualifiers
	taste int // what GDB prefers where C++ does not
}

// fit is the category of a conversion (C++20, [over.ics.scs]).
type fit int

const (
	exact fit = iota
	promotion
	conversion
	ellipsis // an argument for "..."
	forced   // a text for a char *, which only GDB converts
)

const (
	toVoid = maxClasses + 1 + iota // void * is further than any base
	toBool                         // and from pointers, bool still further
)

func byConversion(a, b rank) int {
	return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.depth, b.depth))
}

func byLanguage(a, b rank) int { return cmp.Or(byConversion(a, b), cmp.Compare(a.bind, b.bind)) }

func byDebugger(a, b rank) int { return cmp.Or(byLanguage(a, b), cmp.Compare(a.taste, b.taste)) }

// ranks ranks the arguments of a call. ok is false if they do not fit.
func (e *evaluation) ranks(c *candidate, object *Value, given []Value) (list []rank, ok bool) {
	if len(given) < len(c.params) || len(given) > len(c.params) && !c.more {
		return nil, false
	}
	if object != nil {
		r := rank{}
		if c.this != nil {
			pointer := e.pointer(e.r.pointerTo(object.Type), 0)
			if r, ok = e.rankPointer(c.this.Strip(), &pointer); !ok {
				return nil, false
			}
		}
		list = append(list, r)
	}
	for i := range given {
		r := rank{level: ellipsis}
		if i < len(c.params) {
			if r, ok = e.rank(c.params[i], &given[i]); !ok {
				return nil, false
			}
		}
		list = append(list, r)
	}
	return list, true
}

// rank ranks an argument. ok is false if it does not fit the parameter.
func (e *evaluation) rank(param *Type, v *Value) (r rank, ok bool) {
	to, from := param.Strip(), v.Type.Strip()
	if to.Kind == Reference || to.Kind == RvalueReference {
		return e.rankReference(to, v)
	}
	if sameType(to, from) {
		return rank{}, true
	}
	switch to.Kind {
	case Pointer:
		return e.rankPointer(to, v)
	case Struct:
		return rankBase(from, to)
	case Array: // a vector
		return rank{}, from.Kind == Array && from.Vector && from.sizeOrZero() == to.sizeOrZero()
	case Bool, Char, Integer, Float:
		return rankNumber(to, from)
	case Unspecified: // nullptr_t
		return rank{level: conversion}, isNull(v)
	}
	return r, false
}

func sameType(a, b *Type) bool {
	return a == b || a.Kind == b.Kind && a.parameterName() == b.parameterName()
}

// rankReference ranks an argument for a reference.
func (e *evaluation) rankReference(to *Type, v *Value) (r rank, ok bool) {
	elem := to.Elem()
	constant, volatile := elem.qualifiers()
	own, ownVolatile := v.Type.qualifiers()
	object := v.Place != Nowhere
	target, from := elem.Strip(), v.Type.Strip()
	switch {
	case sameType(target, from):
		ok = true
	case target.Kind == Struct:
		if r, ok = rankBase(from, target); !ok {
			return r, false
		}
	default: // a copy, which is no object
		if r, ok = e.rank(elem, v); !ok {
			return r, false
		}
		object = false
	}
	switch {
	case to.Kind == RvalueReference && object, to.Kind == Reference && !object && !constant:
		return r, false
	case object && (own && !constant || ownVolatile && !volatile):
		return r, false
	case constant != own || volatile != ownVolatile:
		r.bind++
	}
	if to.Kind == Reference && !object {
		r.bind += 2 // worse than a reference to what is no object
	}
	r.taste++
	return r, true
}

// rankBase ranks an object for one of its bases.
func rankBase(from, to *Type) (r rank, ok bool) {
	if from.Kind != Struct {
		return r, false
	}
	if from.FullName() == to.FullName() {
		return r, true
	}
	path := basePath(from, to.FullName(), 0)
	return rank{level: conversion, depth: len(path)}, path != nil
}

// rankPointer ranks an argument for a pointer.
func (e *evaluation) rankPointer(to *Type, v *Value) (r rank, ok bool) {
	from := v.Type.Strip()
	var elem *Type
	switch from.Kind {
	case Pointer, Array:
		if elem = from.Elem(); from.Vector {
			return r, false
		}
	case Function:
		elem = v.Type
	default:
		return rank{level: conversion}, isNull(v)
	}
	target := to.Elem()
	constant, volatile := target.qualifiers()
	own, ownVolatile := elem.qualifiers()
	if from.Kind == Array && v.Place == Nowhere && isCharacter(elem.Strip()) { // a text
		if own = true; !constant && sameType(target.Strip(), elem.Strip()) {
			return rank{level: forced}, true
		}
	}
	if own && !constant || ownVolatile && !volatile {
		return r, false
	}
	if own != constant || ownVolatile != volatile {
		r.bind = 1
	}
	a, b := target.Strip(), elem.Strip()
	switch {
	case sameType(a, b):
		return r, true
	case a.Kind == Void:
		return rank{level: conversion, depth: toVoid, bind: r.bind}, b.Kind != Function
	case a.Kind == Struct && b.Kind == Struct:
		base, ok := rankBase(b, a)
		base.bind = r.bind
		return base, ok
	}
	return r, false
}

func isCharacter(t *Type) bool { return t.Kind == Char || t.FullName() == "char" }

// isNull reports whether a value may stand for a null pointer.
func isNull(v *Value) bool {
	t := v.Type.Strip()
	if t.Kind != Integer || v.Place != Nowhere {
		return t.Kind == Unspecified
	}
	i, err := v.Int()
	return err == nil && i == 0
}

// rankNumber ranks an argument for a parameter of an arithmetic type (C++20, [conv.prom],
// [conv.fpprom]).
func rankNumber(to, from *Type) (r rank, ok bool) {
	promotes := false
	switch from.Kind {
	case Bool, Char, Integer:
		promotes = promoted(from) == to.FullName()
	case Enum:
		if from.entry != nil && from.entry.Flag(dwarf.AttrEnumClass) {
			return r, false
		}
		below := from.Elem().Strip()
		if promotes = to.FullName() == "int" || below.FullName() == to.FullName(); below.Size < 4 && below.Kind != Void && to.Size == 4 {
			r.bind = 1 // the type that the source gives it is better (C++20, [over.ics.rank] 4.2)
		}
	case Float:
		promotes = from.FullName() == "float" && to.FullName() == "double"
	case Pointer, Array, Function, MemberPointer:
		return rank{level: conversion, depth: toBool}, to.Kind == Bool
	default:
		return r, false
	}
	if r.level = conversion; promotes {
		r.level = promotion
	}
	switch wider := to.Size > from.Size; {
	case to.Kind == Bool:
		r.taste = 2
	case from.Kind == Enum && to.FullName() == "int", from.Kind == Float && to.Kind == Float && wider,
		from.FullName() == "int" && to.FullName() == "long", from.FullName() == "unsigned int" && to.FullName() == "unsigned long":
	default:
		r.taste = 1
	}
	return r, true
}

// promoted returns the name of the type to which C++ promotes an integer; "" if to none.
func promoted(t *Type) string {
	switch {
	case t.Kind == Bool, t.Size < 4, t.Name == "wchar_t" && t.Signed:
		return "int"
	case t.Name == "wchar_t", t.Name == "char32_t":
		return "unsigned int"
	}
	return ""
}
