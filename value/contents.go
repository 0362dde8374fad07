package value

import (
	"iter"
	"strconv"
)

// Contents are what an object of a library contains, as its users know it: the elements of C++'s
// std::vector, the keys and values of a map, what a smart pointer points to.
type Contents struct {
	// Pairs says that keys and values alternate.
	Pairs bool
	// Items are read one after the other. Their Relation is [Item].
	Items iter.Seq[Child]
}

// maxItems bounds the items of one object: its list may be a ring.
const maxItems = 1 << 20

// Contents returns what an object of a library contains. ok is false if v is of a type whose
// library's users know it as a struct, or as a text; and if p is Raw.
func (p *Printer) Contents(v *Value) (c Contents, ok bool) {
	if p.Raw || v.Err() != nil {
		return c, false
	}
	w := p.writer()
	w.contents = &c
	if !w.library(v, v.Type.Strip()) || c.Items == nil || w.failure != nil {
		return Contents{}, false
	}
	items := c.Items
	c.Items = func(yield func(Child) bool) {
		n := 0
		for x := range items {
			if n++; n > maxItems || !yield(x) {
				return
			}
		}
	}
	return c, true
}

// take takes over what an object contains. It reports false if the object is to be written.
func (w *Writer) take(pairs bool, items iter.Seq[Child]) bool {
	if w.contents == nil {
		return false
	}
	if w.contents.Items == nil {
		*w.contents = Contents{pairs, items}
	}
	return true
}

// takeShown is take for what a printer has shown.
func (w *Writer) takeShown(s *Shown) bool {
	if s.Children == nil {
		return w.contents != nil
	}
	return w.take(s.Hint == AsMap, func(yield func(Child) bool) {
		n := 0
		for c, err := range s.Children {
			c.Relation = Item
			if s.Hint != ByName {
				c.Name = strconv.Itoa(n)
			}
			c.Value.err = firstOf(c.Value.err, err)
			if !yield(c) || err != nil {
				return
			}
			n++
		}
	})
}

func firstOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
