package abi

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrType is wrapped by errors about types that no compiler makes, or that nothing here knows.
var ErrType = errors.New("type cannot be passed")

const (
	// maxParts is how many types a type may be made of, each counted as often as it is used.
	maxParts = 1 << 14
	// maxDepth is how deep types may be nested.
	maxDepth = 64
	// maxAlign is the greatest alignment, bytes.
	maxAlign = 4096
	// maxSize is the greatest size of a type, bytes: eight times as many are counted without
	// overflow.
	maxSize = 1 << 40
)

// checker has the types that are sound.
type checker map[*Type]extent

// extent is how large the tree of a type is; parts is 0 while the type is being checked.
type extent struct{ parts, depth int }

// check returns an error unless t is sound: all parts lie in it, none contains itself, and walks
// over it end soon.
func (c checker) check(t *Type) (extent, error) {
	if t == nil {
		return extent{}, fmt.Errorf("%w: a part has no type", ErrType)
	}
	if e, ok := c[t]; ok {
		if e.parts == 0 {
			return e, fmt.Errorf("%w: it contains itself", ErrType)
		}
		return e, nil
	}
	if len(c) > maxParts {
		return extent{}, fmt.Errorf("%w: it has more than %d parts", ErrType, maxParts)
	}
	c[t] = extent{}
	if t.Size > maxSize || !alignment(t.Align) {
		return extent{}, fmt.Errorf("%w: size %d or alignment %d is out of range", ErrType, t.Size, t.Align)
	}
	e := extent{parts: 1, depth: 1}
	within := func(part *Type) error {
		inner, err := c.check(part)
		e.parts, e.depth = e.parts+inner.parts, max(e.depth, inner.depth+1)
		if err == nil && (e.parts > maxParts || e.depth > maxDepth) {
			err = fmt.Errorf("%w: it has more than %d parts, or more than %d levels", ErrType, maxParts, maxDepth)
		}
		if err == nil && part.Kind == Void {
			err = fmt.Errorf("%w: a part is void", ErrType)
		}
		return err
	}
	sound := true
	switch t.Kind {
	case Void:
		sound = t.Size == 0
	case Integer:
		sound = t.Size <= 16 && bits.OnesCount64(t.Size) == 1
	case Pointer:
		sound = t.Size == 8 || t.Size == 4
	case Float:
		sound = t.Size <= 16 && t.Size > 1 && bits.OnesCount64(t.Size) == 1
	case X87:
		sound = t.Size == 16 || t.Size == x87Narrow
	case Complex, Vector, Array:
		if err := within(t.Elem); err != nil {
			return e, err
		}
		high, size := bits.Mul64(t.Count, t.Elem.Size)
		scalar := t.Elem.Kind == Integer || t.Elem.Kind == Float || t.Elem.Kind == X87
		switch t.Kind {
		case Complex:
			sound = scalar && t.Size == 2*t.Elem.Size
		case Vector:
			scalar = scalar || t.Elem.Kind == Pointer
			sound = scalar && high == 0 && size > 0 && size <= t.Size && bits.OnesCount64(t.Size) == 1
		default:
			sound = high == 0 && size == t.Size
		}
	case Struct, Union:
		for i := range t.Members {
			if err := within(t.Members[i].Type); err != nil {
				return e, err
			}
			sound = sound && t.Members[i].sound(t)
		}
	default:
		return e, fmt.Errorf("%w: kind %d is unknown", ErrType, t.Kind)
	}
	if !sound {
		return e, fmt.Errorf("%w: %s cannot have %d bytes, or a part lies outside it", ErrType, t.Kind, t.Size)
	}
	c[t] = e
	return e, nil
}

// sound reports whether the member lies in t.
func (m *Member) sound(t *Type) bool {
	if m.BitSize != 0 {
		return m.Type.Kind == Integer && m.BitSize <= 8*m.Type.Size && m.BitOffset <= 8*t.Size && m.BitSize <= 8*t.Size-m.BitOffset
	}
	return alignment(m.Align) && m.Offset <= t.Size && m.Type.Size <= t.Size-m.Offset
}

func alignment(align uint64) bool { return align <= maxAlign && align&(align-1) == 0 }

// String returns the name of the kind.
func (k Kind) String() string {
	names := [...]string{"void", "an integer", "a pointer", "a floating-point number", "an x87 number", "a complex number", "a vector", "an array", "a struct", "a union"}
	if int(k) < len(names) {
		return names[k]
	}
	return "an unknown type"
}
