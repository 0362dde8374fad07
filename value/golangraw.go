package value

import "strconv"

// goRaw writes a value of Go as GDB does. It reports false if that is as in C.
func (w *Writer) goRaw(v *Value, t *Type) bool {
	switch {
	case t.Kind == Function:
		unnamed := *t // GDB has no names of function types
		unnamed.Name, unnamed.fullName = "", ""
		w.Put("{" + unnamed.String() + "} ")
		w.Address(v, v.Addr)
		return true
	case t.isGoString():
		addr, err := v.Word(0)
		length, err2 := v.Word(1)
		if err != nil || err2 != nil {
			return false
		}
		w.Put("0x" + strconv.FormatUint(addr, 16) + " ")
		if int64(length) < 0 {
			w.Put("<invalid length: " + strconv.FormatInt(int64(length), 10) + ">")
			return true
		}
		w.goRawText(v, t.Fields()[0].Type.Strip().Elem(), addr, length)
		return true
	}
	return false
}

func (t *Type) isGoString() bool {
	f := t.Fields()
	return t.Kind == Struct && len(f) == 2 && f[0].Name == "str" && f[1].Name == "len" && f[0].Type.Strip().Kind == Pointer
}

func (w *Writer) goRawText(v *Value, elem *Type, addr, n uint64) {
	b := make([]byte, min(n, uint64(w.p.elements()), maxRead))
	if err := v.ReadMemory(addr, b); err != nil {
		w.TextAt(v, elem, addr, n)
		return
	}
	whole := uint64(len(b)) == n
	if whole && n > 0 && b[n-1] == 0 { // as if it were a text in C
		b = b[:n-1]
	}
	w.quoted(b, w.classOf(elem), !whole)
}
