package value

import (
	"errors"
	"iter"
	"strconv"
)

// Relation says what a Child is to the value that it is a part of.
type Relation uint8

const (
	Member       Relation = iota // of a struct or union
	Base                         // the part of an object that its class has from another one
	StaticMember                 // of a class: one for all objects
	Element                      // of an array
	Target                       // what a pointer points to
	Item                         // what an object of a library contains
)

// Child is a part of a value, or what a pointer points to. Its bytes are read when they are asked
// for.
type Child struct {
	Relation Relation
	// Name is a member's; it is empty if the member has none. A Base has the full name of its
	// class, an Element its index: "3", counted from the array's lower bound. An Item has its
	// number, counted from 0, or its name.
	Name  string
	Value Value
	// Text is the text of an Item that has no Value: Value.Type is nil.
	Text string
}

// Children are the parts of a value, in order.
type Children struct {
	// Len is how many there are.
	Len uint64

	at func(i uint64) Child
}

// Children returns the members of a struct or union, with the bases before them; the elements of an
// array; or what a pointer points to. A reference has the parts of its object. There are none of
// other values, of null pointers, of pointers to functions and to types that are not known, and of
// values of which nothing is known.
func (v *Value) Children() Children {
	t := v.Type.Strip()
	for range maxNames {
		if t.Kind != Reference && t.Kind != RvalueReference {
			break
		}
		to := v.Deref()
		v, t = &to, to.Type.Strip()
	}
	if t.hasDescriptor() {
		o := *v
		o.describe()
		v, t = &o, o.Type.Strip()
	}
	if err := v.Err(); err != nil && !errors.Is(err, ErrSynthetic) {
		return Children{}
	}
	switch t.Kind {
	case Struct, Union:
		return v.members(t)
	case Array:
		return v.elements(t)
	case Pointer:
		return v.target(t)
	}
	return Children{}
}

func (v *Value) members(t *Type) Children {
	fields := t.Fields()
	if t.Declared || len(fields) == 0 {
		return Children{}
	}
	bases := 0
	order := make([]int, 0, len(fields))
	for i := range fields {
		if fields[i].Base {
			order = append(order, i)
			bases++
		}
	}
	for i := range fields {
		if !fields[i].Base {
			order = append(order, i)
		}
	}
	return Children{Len: uint64(len(order)), at: func(i uint64) Child {
		f := &fields[order[i]]
		c := Child{Name: f.Name, Value: v.Field(f)}
		switch {
		case f.Base:
			c.Relation, c.Name = Base, f.Type.Strip().FullName()
		case f.Static:
			c.Relation = StaticMember
		}
		return c
	}}
}

func (v *Value) elements(t *Type) Children {
	b := t.Bounds()
	if _, ok := t.Elem().SizeOf(); !ok || !b.Known {
		return Children{}
	}
	return Children{Len: b.Count, at: func(i uint64) Child {
		return Child{Relation: Element, Name: strconv.FormatInt(b.Lower+int64(i), 10), Value: v.Index(i)}
	}}
}

func (v *Value) target(t *Type) Children {
	if _, ok := t.Elem().SizeOf(); !ok || t.Elem().Strip().Kind == Void || t.Elem().Strip().Kind == Function {
		return Children{}
	}
	if addr, err := v.Uint(); err != nil && !errors.Is(err, ErrSynthetic) || err == nil && addr == 0 {
		return Children{}
	}
	return Children{Len: 1, at: func(uint64) Child { return Child{Relation: Target, Value: v.Deref()} }}
}

// At returns child i, counted from 0. ok is false if there are not so many.
func (c *Children) At(i uint64) (child Child, ok bool) {
	if i >= c.Len {
		return Child{}, false
	}
	return c.at(i), true
}

// From returns the children from the i-th on, each with its number.
func (c *Children) From(i uint64) iter.Seq2[uint64, Child] {
	return func(yield func(uint64, Child) bool) {
		for ; i < c.Len; i++ {
			if !yield(i, c.at(i)) {
				return
			}
		}
	}
}

// Summary writes a value as [Printer.Text] does, but no struct or array within another one: "{a =
// 1, b = {...}}". It has at most 1 KiB, or MaxText.
func (p *Printer) Summary(v *Value) string {
	short := *p
	short.Depth = 1
	if short.MaxText == 0 || short.MaxText > 1<<10 {
		short.MaxText = 1 << 10
	}
	return short.Text(v)
}

// Reason says why a value is not known, as GDB does: "optimized out", "not saved", "unavailable",
// or the error's own text.
func Reason(err error) string {
	for _, known := range []error{ErrOptimizedOut, ErrSynthetic, ErrNotSaved, ErrUnavailable} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// OfLibrary returns the text of a value of a type that its library's or language's users know
// otherwise than as a struct, such as C++'s std::string, or an enum of Rust's. ok is false for all
// other types.
func (p *Printer) OfLibrary(v *Value) (text string, ok bool) {
	if p.Raw || v.Err() != nil {
		return "", false
	}
	w := p.writer()
	t := v.Type.Strip()
	ok = w.library(v, t) || t.read().variant != nil && w.ofLanguage(v, t)
	if w.failure != nil {
		w.full = false
		w.Put("<error reading variable: " + w.failure.Error() + ">")
	}
	return w.String(), ok
}
