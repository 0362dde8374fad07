//go:build linux && (amd64 || arm64)

package server

import (
	"iter"

	"github.com/sfwalk/sfwalk/value"
)

// parts are the parts of a value as an editor shows them.
type parts struct {
	fixed value.Children
	items iter.Seq[value.Child] // what an object of a library contains; nil for other values
}

// expanded returns the parts of a value: a pointer to a struct has the struct's parts, an object of
// a library has what it contains.
func expanded(v *value.Value) parts {
	if _, ok := printer.OfLibrary(v); ok {
		return contents(v)
	}
	children := v.Children()
	if v.Type.Strip().Kind != value.Pointer || children.Len != 1 {
		return parts{fixed: children}
	}
	if v.Type.IsText() {
		return parts{}
	}
	to, _ := children.At(0)
	if _, ok := printer.OfLibrary(&to.Value); ok {
		return parts{fixed: children}
	}
	switch to.Value.Type.Strip().Kind {
	case value.Struct, value.Union:
		if members := to.Value.Children(); members.Len > 0 {
			return parts{fixed: members}
		}
	}
	return parts{fixed: children}
}

// contents returns what an object of a library contains. A key and its value are one part.
func contents(v *value.Value) parts {
	c, ok := printer.Contents(v)
	if !ok {
		return parts{}
	}
	if !c.Pairs {
		return parts{items: c.Items}
	}
	return parts{items: func(yield func(value.Child) bool) {
		key, second := "", false
		for x := range c.Items {
			if !second {
				if key = x.Text; x.Value.Type != nil {
					key = printer.Summary(&x.Value)
				}
			} else {
				x.Name = "[" + key + "]"
				if !yield(x) {
					return
				}
			}
			second = !second
		}
	}}
}

// from returns the parts from the i-th on, with their numbers.
func (p *parts) from(i uint64) iter.Seq2[uint64, value.Child] {
	if p.items == nil {
		return p.fixed.From(i)
	}
	return func(yield func(uint64, value.Child) bool) {
		n := uint64(0)
		for x := range p.items {
			if n >= i && !yield(n, x) {
				return
			}
			n++
		}
	}
}

// at returns part i. ok is false if there are not so many.
func (p *parts) at(i uint64) (part value.Child, ok bool) {
	for _, x := range p.from(i) {
		return x, true
	}
	return part, false
}
