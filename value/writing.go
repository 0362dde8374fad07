package value

// What a printer that writes its objects itself, and a language, have the Writer write. Put, Part
// and Absent are beside the Writer.

// Enter begins the members of a struct, and reports true: call Leave behind them. It reports false
// if they lie deeper than the Printer allows: leave them out then, and do not call Leave.
func (w *Writer) Enter() bool {
	if w.depth >= min(w.p.depth(), maxDepth) {
		return false
	}
	w.depth++
	return true
}

// Leave ends the members that Enter has begun.
func (w *Writer) Leave() { w.depth-- }

// Full reports whether nothing more is written: the text is too long, or memory is not there. Ask
// it in a loop that writes many things.
func (w *Writer) Full() bool { return w.full }

// Limit returns how many elements of an array, or characters of a text, are written at most.
func (w *Writer) Limit() int { return w.p.elements() }

// Elements writes n elements, equal ones once with their number.
func (w *Writer) Elements(n uint64, at func(i uint64) Value) { w.elements(n, at, w.Part) }

// Quoted writes a text of characters of a type, in quotes. more says that the text goes on.
func (w *Writer) Quoted(b []byte, elem *Type, more bool) { w.quoted(b, w.classOf(elem), more) }

// Quote is Quoted as a text.
func (w *Writer) Quote(b []byte, elem *Type, more bool) string {
	in := &Writer{p: w.p, cost: w.cost}
	in.Quoted(b, elem, more)
	return in.String()
}

// TextAt writes a text of n characters of one byte at an address, as far as they can be read.
func (w *Writer) TextAt(v *Value, elem *Type, addr, n uint64) {
	limit := min(n, uint64(w.p.elements()), maxRead)
	b := make([]byte, limit)
	if v.ReadMemory(addr, b) == nil {
		w.Quoted(b, elem, limit < n)
		return
	}
	got := limit
	if b, _ = readText(v, addr, 1, limit); uint64(len(b)) < limit {
		got = uint64(len(b))
	}
	if b = b[:got]; len(b) > 0 {
		w.Quoted(b, elem, true)
	}
	w.Put("<error: " + (&MemoryError{addr}).Error() + ">")
}

// ASCII has what write writes without characters beyond ASCII.
func (w *Writer) ASCII(write func()) {
	ascii, p := *w.p, w.p
	ascii.UTF8 = false
	w.p = &ascii
	write()
	w.p = p
}

// Characters returns the text of n characters of a type at an address, in quotes, as a text that an
// object contains is written. What of it is read is bounded as any text is.
func (w *Writer) Characters(v *Value, addr uint64, elem *Type, n uint64) string {
	size, ok := elem.SizeOf()
	if !ok || size == 0 || size > 4 {
		return ""
	}
	most := min(n, uint64(w.p.elements()), maxRead/size)
	b := make([]byte, most*size)
	got := 0
	var err error
	if most > 0 && v.mem != nil {
		got, err = v.mem.ReadMemory(v.Type.r.Arch.Wrap(addr), b)
	}
	w.Spend(got)
	failed := err != nil || uint64(got) < most*size
	b = b[:uint64(max(got, 0))/size*size]
	in := &Writer{p: w.p, cost: w.cost}
	if !failed || len(b) > 0 {
		in.characters(b, elem, size, uint64(len(b)) < n*size)
	}
	if failed {
		in.Put("<error: " + (&MemoryError{v.Type.r.Arch.Wrap(addr + uint64(len(b)))}).Error() + ">")
	}
	return in.String()
}

// CharactersIn is [Writer.Characters] of the first n characters that an object itself has.
func (w *Writer) CharactersIn(b []byte, elem *Type, n uint64) string {
	size, ok := elem.SizeOf()
	if !ok || size == 0 || size > 4 || n > uint64(len(b))/size {
		return ""
	}
	most := min(n, uint64(w.p.elements()))
	in := &Writer{p: w.p, cost: w.cost}
	in.characters(b[:most*size], elem, size, most < n)
	return in.String()
}

// characters writes characters of a size. more says that these are not all.
func (w *Writer) characters(b []byte, elem *Type, size uint64, more bool) {
	if !more && len(b) >= int(size) && isZero(b[len(b)-int(size):]) { // a zero at the end is not shown
		b = b[:len(b)-int(size)]
	}
	w.quoted(b, w.classOf(elem), more)
}

// SpendOn is Spend for what it takes to read a value, if that has not been read.
func (w *Writer) SpendOn(v *Value) bool {
	n, ok := v.size()
	return v.bytes != nil || !ok || w.Spend(int(min(n, maxRead)))
}

// Short reports whether the value is written in a line with others, as an argument of a frame is:
// then the elements of containers are left out.
func (w *Writer) Short() bool { return w.summary }
