package value

import "strings"

// stringObject writes a std::basic_string: of the ABI since GCC 5, or that of before, whose length lies before the text.
func stringObject(o *object) *shown {
	addr, elem, ok := o.pointerTo("_M_dataplus", "_M_p")
	if !ok {
		return nil
	}
	if n, ok := o.number("_M_string_length"); ok {
		return o.characters(addr, elem, n)
	}
	if strings.Contains(o.name, "__cxx11") {
		return nil
	}
	length := o.t.r.Arch.Wrap(addr - 3*o.ptrSize())
	n, err := o.word(length)
	if err != nil {
		return &shown{err: err}
	}
	return o.characters(addr, elem, int64(n))
}

// stringView writes a std::basic_string_view.
func stringView(o *object) *shown {
	addr, elem, ok := o.pointerTo("_M_str")
	n, ok2 := o.number("_M_len")
	if !ok || !ok2 {
		return nil
	}
	return o.characters(addr, elem, n)
}

// stringError says what GDB does of a text that is at no address.
type stringError struct{}

func (stringError) Error() string {
	return "Cannot create a lazy string with address 0x0, and a non-zero length."
}

// characters writes n characters at an address.
func (o *object) characters(addr uint64, elem *Type, n int64) *shown {
	size, ok := elem.SizeOf()
	switch {
	case !ok || size == 0 || size > 4 || n < 0:
		return nil
	case addr == 0 && n > 0:
		return &shown{err: stringError{}}
	}
	if n = int64(int32(n)); n < 0 { // GDB counts with 32 bits, and takes such a text for an empty one
		n, addr = 0, 0
	}
	return &shown{text: o.w.characters(o.v, addr, elem, size, uint64(n))}
}

// characters returns the text of n characters of a size at an address.
func (w *Writer) characters(v *Value, addr uint64, elem *Type, size, n uint64) string {
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
		in.charactersIn(b, elem, size, uint64(len(b)) < n*size)
	}
	if failed {
		in.Put("<error: " + (&MemoryError{v.Type.r.Arch.Wrap(addr + uint64(len(b)))}).Error() + ">")
	}
	return in.String()
}

// charactersIn writes characters of a size. more says that these are not all.
func (w *Writer) charactersIn(b []byte, elem *Type, size uint64, more bool) {
	if !more && len(b) >= int(size) && isZero(b[len(b)-int(size):]) { // a zero at the end is not shown
		b = b[:len(b)-int(size)]
	}
	w.quoted(b, w.classOf(elem), more)
}
