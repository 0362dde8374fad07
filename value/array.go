package value

import "bytes"

// array writes an array; one of characters as a text.
func (w *Writer) array(v *Value, t *Type) {
	elem := t.Elem()
	size, ok := elem.SizeOf()
	b := t.Bounds()
	if !t.Vector && (!b.Known || b.Count == 0 || !ok && elem.unbounded()) && v.Place == InMemory {
		// Of an array whose length is not known, GDB shows the address, as if it were a pointer.
		w.Address(v, v.Addr)
		if w.textual(elem) {
			w.Put(" ")
			w.stringAt(v, elem, v.Addr)
		}
		return
	}
	if !ok {
		w.Put("<unknown type>")
		return
	}
	if !t.Vector && w.textual(elem) && size > 0 {
		w.text(v, elem, b.Count, size)
		return
	}
	if w.depth >= w.p.depth() {
		w.Put("{...}")
		return
	}
	w.Put("{")
	w.elements(b.Count, func(i uint64) Value { return v.Index(i) }, w.Part)
	w.Put("}")
}

// unbounded reports whether a type is an array of unknown length, or has elements that are.
func (t *Type) unbounded() bool {
	for range maxNames {
		t = t.Strip()
		if t.Kind != Array {
			break
		}
		if !t.Bounds().Known {
			return true
		}
		t = t.Elem()
	}
	return false
}

// elements writes the elements of an array, equal ones in a row once with their number.
func (w *Writer) elements(n uint64, at func(i uint64) Value, write func(x *Value)) {
	limit, repeats := w.p.elements(), uint64(w.p.repeats())
	printed := 0
	i := uint64(0)
	x, next := w.hold(), w.hold()
	defer w.drop()
	defer w.drop()
	ahead := false // next is the element at i
	for i < n && printed < limit && !w.full {
		if i > 0 {
			w.Put(", ")
		}
		if *x = *next; !ahead {
			*x = at(i)
		}
		ahead = false
		same := uint64(1)
		for i+same < n && same < maxRepeats {
			if !w.p.Budget.Spend(costCompare) {
				break
			}
			*next = at(i + same)
			if !equal(x, next) {
				ahead = same == 1
				break
			}
			same++
		}
		if same > repeats {
			write(x)
			w.Put(" <repeats ")
			w.unsigned(same, 10)
			w.Put(" times>")
			i += same
			printed += int(repeats)
			continue
		}
		before := x.err
		write(x)
		if before == nil && x.err != nil && !IsAbsent(x.err) { // memory ends here: it has no further elements
			i = n
			break
		}
		i++
		printed++
	}
	if i < n {
		w.Put("...")
	}
}

// maxRepeats bounds how many elements are compared.
const maxRepeats = 1 << 20

// equal reports whether two values have the same bytes, of which the same are known.
func equal(a, b *Value) bool {
	a.load()
	b.load()
	if a.err != nil || b.err != nil || len(a.bytes) != len(b.bytes) || len(a.gaps) != len(b.gaps) {
		return a.err != nil && a.err == b.err
	}
	for i := range a.gaps {
		if a.gaps[i].lo != b.gaps[i].lo || a.gaps[i].hi != b.gaps[i].hi || a.gaps[i].why != b.gaps[i].why {
			return false
		}
	}
	return a.read && b.read && bytes.Equal(a.bytes, b.bytes)
}

// text writes an array of characters.
func (w *Writer) text(v *Value, elem *Type, n, size uint64) {
	if why, _ := v.missing(0, 8*n*size); why != nil {
		w.Put("{")
		w.elements(n, v.Index, w.Part)
		w.Put("}")
		return
	}
	v.load()
	var b []byte
	cut := false
	if v.bytes != nil {
		b = v.bytes[:min(uint64(len(v.bytes)), n*size)]
	} else if n > 0 {
		part := min(n*size, maxRead/size*size)
		b = make([]byte, part)
		if err := v.ReadMemory(v.Addr, b); err != nil {
			w.Absent(err)
			return
		}
		cut = part < n*size
	}
	c := w.classOf(elem)
	if !cut && len(b) >= int(size) && isZero(b[len(b)-int(size):]) {
		b = b[:len(b)-int(size)]
	}
	w.quoted(b, c, cut)
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// stringAt writes the text at an address, up to a zero.
func (w *Writer) stringAt(v *Value, elem *Type, addr uint64) {
	size, ok := elem.SizeOf()
	if !ok || size == 0 || size > 4 {
		return
	}
	limit := w.p.elements()
	most := min(uint64(limit), maxRead/size)
	b, err := readText(v, addr, size, most+1)
	ended := false
	for i := uint64(0); (i+1)*size <= uint64(len(b)); i++ {
		if isZero(b[i*size : (i+1)*size]) {
			b = b[:i*size]
			ended = true
			break
		}
	}
	more := !ended && uint64(len(b)) > most*size
	if more {
		b = b[:most*size]
	}
	if len(b) > 0 || err == nil || ended {
		w.quoted(b, w.classOf(elem), more)
	}
	if err != nil && !ended && !more {
		if len(b) > 0 {
			w.Put(" ")
		}
		w.Put("<error: " + err.Error() + ">")
	}
}

// readText reads up to n characters at an address, as far as a zero or unreadable memory.
func readText(v *Value, addr, size, n uint64) (b []byte, err error) {
	const step = 64
	for uint64(len(b)) < n*size {
		at := addr + uint64(len(b))
		part := make([]byte, min(n*size-uint64(len(b)), step-at%step/size*size))
		got := 0
		if v.mem != nil {
			got, _ = v.mem.ReadMemory(at, part)
		}
		b = append(b, part[:got]...)
		for i := len(b) - got; i >= 0 && uint64(i)+size <= uint64(len(b)); i++ {
			if uint64(i)%size == 0 && isZero(b[i:uint64(i)+size]) {
				return b, nil
			}
		}
		if got < len(part) {
			b = b[:uint64(len(b))/size*size]
			return b, &MemoryError{addr + uint64(len(b))}
		}
	}
	return b, nil
}
