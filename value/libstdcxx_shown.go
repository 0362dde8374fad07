package value

import (
	"errors"
	"iter"
	"strconv"
)

// shown is how an object of a library is written: a text, and children in braces.
type shown struct {
	text string // before the children, if there are any
	bare bool   // there is no text, and no " = " before the children
	err  error  // memory that the text needs is not there: this is written in its place, and no children
	hint hint
	// children are what the object contains; nil if it is no container. An empty container has no braces.
	children iter.Seq[child]
}

// hint says how children are written.
type hint uint8

const (
	byName  hint = iota // {name = child, …}
	asArray             // {child, …}
	asMap               // {[child] = child, …}
)

// child is what a container has.
type child struct {
	name  string
	value Value
	text  string // of one that is no value
	err   error  // it cannot be read: it is the last
}

// shown writes an object.
func (w *Writer) shown(s *shown) {
	if w.takeShown(s) {
		return
	}
	if s.err != nil {
		w.Put(unreadable(s.err))
		return
	}
	w.Put(s.text)
	if s.children == nil || w.full {
		return
	}
	limit := w.p.elements()
	n, ended, tooDeep := 0, true, false
	for c := range s.children {
		if n >= limit || !w.Spend(1) {
			ended = false
			break
		}
		if c.err != nil {
			w.Put(unreadable(c.err))
			ended = false
			break
		}
		switch {
		case n == 0 && !s.bare:
			w.Put(" = ")
		case n > 0 && (s.hint != asMap || n%2 == 0):
			w.Put(", ")
		}
		if tooDeep = w.depth >= min(w.p.depth(), maxDepth); tooDeep {
			w.Put("{...}")
			break
		}
		if n == 0 {
			w.Put("{")
		}
		if w.summary {
			n, ended = 1, false
			break
		}
		w.child(s, &c, n)
		n++
		if w.full {
			return
		}
	}
	if n == 0 || tooDeep {
		return
	}
	// As GDB, which counts before it asks for more.
	if !ended || n == limit {
		w.Put("...")
	}
	w.Put("}")
}

// child writes the n-th child.
func (w *Writer) child(s *shown, c *child, n int) {
	key := s.hint == asMap && n%2 == 0
	switch {
	case key:
		w.Put("[")
	case s.hint == byName:
		w.Put(c.name + " = ")
	}
	if c.value.Type == nil {
		w.Put(c.text)
	} else {
		deeper := 1
		if key { // a key may be one level deeper
			deeper = 0
		}
		w.depth += deeper
		w.object(&c.value)
		w.depth -= deeper
	}
	if key {
		w.Put("] = ")
	}
}

// object writes a value that was read for itself: if it cannot be read, nothing more is written.
func (w *Writer) object(v *Value) {
	if err := v.Err(); err != nil && !Gone(err) {
		w.abort(err)
		return
	}
	w.Spend(len(v.bytes))
	if w.structs == 0 { // a reference with its object, as of a variable
		w.top(v)
		return
	}
	w.value(v)
}

// abort ends the text of a variable: GDB says that the variable cannot be read.
func (w *Writer) abort(err error) {
	switch {
	case w.full:
	case w.structs > 0 && w.nesting == 0:
		w.buf = append(w.buf, unreadable(err)...)
	default:
		w.failure = err
	}
	w.full = true
}

const (
	// maxDepth bounds objects within each other if the printer does not.
	maxDepth = 256
	// maxNesting bounds texts within each other, such as that of an iterator's element in that of the iterator.
	maxNesting = 8
	// maxCost bounds the children that one value has at all depths, the nodes that are followed, and the bytes of both.
	maxCost = 16 << 20
)

// errLoop says that nodes of a container lead to each other.
var errLoop = errors.New("the container's nodes form a loop")

// Spend reports whether so much may still be read for the value.
func (w *Writer) Spend(n int) bool {
	limit := w.p.ByteBudget
	if limit == 0 {
		limit = maxCost
	}
	*w.cost += 1 + n
	if *w.cost > limit {
		if !w.full {
			w.Put("...")
			w.full = true
		}
		return false
	}
	return true
}

// inner returns the text of a value that is written within the text of another one. The error says why it cannot be read.
func (w *Writer) inner(v *Value) (string, error) {
	if w.nesting >= maxNesting {
		return "{...}", nil
	}
	in := &Writer{p: w.p, cost: w.cost, nesting: w.nesting + 1, structs: w.structs, summary: w.summary}
	if w.summary && !v.Type.scalar() {
		if err := v.Err(); err != nil {
			return "", err
		}
		if !in.library(v, v.Type.Strip()) {
			in.Put("...")
		}
	} else {
		in.object(v)
	}
	if in.failure != nil {
		return "", in.failure
	}
	return in.String(), nil
}

// textOf returns an object that is written as the text of a value, with something before and behind.
func (w *Writer) textOf(before string, v *Value, behind string) *shown {
	text, err := w.inner(v)
	return &shown{text: before + text + behind, err: err}
}

// numbered yields values as elements [0], [1], ….
func numbered(values iter.Seq2[Value, error]) iter.Seq[child] {
	return func(yield func(child) bool) {
		i := 0
		for v, err := range values {
			if !yield(child{name: index(i), value: v, err: err}) {
				return
			}
			i++
		}
	}
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// elements returns "1 element", or "5 elements".
func countText(n int64) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.FormatInt(n, 10) + " elements"
}
