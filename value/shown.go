package value

// shown writes an object.
func (w *Writer) shown(s *Shown) {
	if w.takeShown(s) {
		return
	}
	if s.Err != nil {
		w.Put(unreadable(s.Err))
		return
	}
	w.Put(s.Text)
	if s.Children == nil || w.full {
		return
	}
	limit := w.p.elements()
	n, ended, tooDeep := 0, true, false
	for c, err := range s.Children {
		if n >= limit || !w.Spend(1) {
			ended = false
			break
		}
		if err != nil {
			w.Put(unreadable(err))
			ended = false
			break
		}
		switch {
		case n == 0 && !s.Bare:
			w.Put(" = ")
		case n > 0 && (s.Hint != AsMap || n%2 == 0):
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
func (w *Writer) child(s *Shown, c *Child, n int) {
	key := s.Hint == AsMap && n%2 == 0
	switch {
	case key:
		w.Put("[")
	case s.Hint == ByName:
		w.Put(c.Name + " = ")
	}
	if c.Value.Type == nil {
		w.Put(c.Text)
	} else {
		deeper := 1
		if key { // a key may be one level deeper
			deeper = 0
		}
		w.depth += deeper
		w.object(&c.Value)
		w.depth -= deeper
	}
	if key {
		w.Put("] = ")
	}
}

// object writes a value that was read for itself: if it cannot be read, nothing more is written.
func (w *Writer) object(v *Value) {
	if err := v.Err(); err != nil && !IsAbsent(err) {
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
	// maxNesting bounds texts within each other, such as the text of an iterator's element in the
	// text of the iterator.
	maxNesting = 8
	// maxCost bounds the children that one value has at all depths, the nodes that are followed,
	// and the bytes of both.
	maxCost = 16 << 20
)

// Spend counts n bytes that are to be read for the value. It reports false if that is more than the
// Printer's ByteBudget: do not read them then.
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

// Text returns the text of a value that is written within the text of another one. The error says
// why it cannot be read.
func (w *Writer) Text(v *Value) (string, error) {
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
