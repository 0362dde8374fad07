package value

// item is what a container has: an element, a key, a value that belongs to a key, or a member with a name.
type item struct {
	name  string
	value Value
	text  string // instead of a value, unless it is ""
}

// layout says how the items of a container are written.
type layout uint8

const (
	array   layout = iota // {1, 2}
	pairs                 // {[1] = 2}: an item is a key, the next one its value
	members               // {a = 1, b = 2}
)

// list returns items one after the other.
func list(of ...item) func() (item, bool) {
	return func() (x item, ok bool) {
		if len(of) == 0 {
			return item{}, false
		}
		x, of = of[0], of[1:]
		return x, true
	}
}

// items writes a container as GDB writes one that a printer knows: a title, and the items.
func (w *Writer) items(title string, how layout, next func() (item, bool)) {
	if w.takeItems(how, next) {
		return
	}
	w.Put(title)
	x, ok := next()
	if !ok || w.full {
		return
	}
	w.Put(" = ")
	if w.depth >= w.p.depth() || w.summary {
		w.Put("{...}")
		return
	}
	w.Put("{")
	w.depth++
	limit := w.p.elements()
	for i := 0; ok && !w.full; i++ {
		if i >= limit {
			w.Put("...")
			break
		}
		if i > 0 && (how != pairs || i%2 == 0) {
			w.Put(", ")
		}
		switch {
		case how == pairs && i%2 == 0:
			w.Put("[")
		case how == members:
			w.Put(x.name + " = ")
		}
		if x.text != "" {
			w.Put(x.text)
		} else {
			w.Part(&x.value)
		}
		if how == pairs && i%2 == 0 {
			w.Put("] = ")
		}
		if x, ok = next(); !ok && i+1 == limit { // GDB does not look whether there are more
			w.Put("...")
		}
	}
	w.depth--
	w.Put("}")
}
