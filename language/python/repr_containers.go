package python

// sequence writes a list or a tuple.
func (w *writer) sequence(object uint64, open, end string) error {
	items, n, err := w.items(object, mostItems)
	if err != nil {
		return err
	}
	w.write(open)
	for i, item := range items {
		if i > 0 {
			w.write(", ")
		}
		w.object(item)
	}
	switch {
	case n > int64(len(items)):
		w.write(", ...")
	case n == 1 && open == "(":
		w.write(",")
	}
	w.write(end)
	return nil
}

func (w *writer) dict(object uint64) error {
	w.write("{")
	n := 0
	err := w.each(object, func(key, value uint64) bool {
		if n > 0 {
			w.write(", ")
		}
		if n++; n > mostItems {
			w.write("...")
			return false
		}
		w.object(key)
		w.write(": ")
		w.object(value)
		return true
	})
	w.write("}")
	return err
}

// set writes a set.
func (w *writer) set(object uint64, name string) error {
	used, err := w.pointer(object, setUsed)
	if err != nil {
		return err
	}
	if used == 0 {
		w.write(name + "()")
		return nil
	}
	if name == "frozenset" {
		w.write("frozenset(")
	}
	w.write("{")
	n := uint64(0)
	err = w.members(object, func(key uint64) bool {
		if n == mostItems {
			return false
		}
		if n > 0 {
			w.write(", ")
		}
		w.object(key)
		n++
		return true
	})
	if err != nil {
		return err
	}
	if n < used {
		w.write(", ...")
	}
	w.write("}")
	if name == "frozenset" {
		w.write(")")
	}
	return nil
}
