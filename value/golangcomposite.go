package value

import "strconv"

// Word returns the i-th word of a value, as a number: a pointer, or a number of its size.
func (v *Value) Word(i int) (uint64, error) {
	size := v.Type.r.Arch.PtrSize
	p := v.part(v.Type, int64(i*size), uint64(size))
	return p.Uint()
}

func (w *Writer) goString(v *Value) {
	addr, err := v.Word(0)
	length, err2 := v.Word(1)
	switch n := int64(length); {
	case err != nil || err2 != nil:
		w.goUnreadable(ErrUnavailable)
	case n < 0:
		w.Put("(unreadable invalid length: " + strconv.FormatInt(n, 10) + ")")
	case n == 0:
		w.Put(`""`)
	default:
		b := make([]byte, min(length, uint64(w.p.elements()), maxRead))
		if err := v.ReadMemory(addr, b); err != nil {
			w.Put("(unreadable could not read string at 0x" + strconv.FormatUint(addr, 16) + " due to " + err.Error() + ")")
			return
		}
		text := string(b)
		if more := length - uint64(len(b)); more > 0 {
			text += "...+" + strconv.FormatUint(more, 10) + " more"
		}
		w.Put(strconv.Quote(text))
	}
}

// goElements writes n elements.
func (w *Writer) goElements(n uint64, at func(i uint64) Value, level int) {
	w.Put("[")
	i := uint64(0)
	limit := uint64(w.p.elements())
	wrong := 0
	for ; i < n && i < limit && !w.full && wrong <= maxGoWrong; i++ {
		if i > 0 {
			w.Put(",")
		}
		x := at(i)
		w.goValue(&x, level+1, false)
		if x.err != nil {
			wrong++
		}
	}
	if i < n {
		if i > 0 {
			w.Put(",...+" + strconv.FormatUint(n-i, 10) + " more")
		} else {
			w.Put("...")
		}
	}
	w.Put("]")
}

// maxGoWrong bounds elements that cannot be read.
const maxGoWrong = 3

func (w *Writer) goArray(v *Value, level int, typed bool) {
	if typed {
		w.Put(goTypeName(v.Type) + " ")
	}
	w.goElements(v.Type.Strip().Bounds().Count, func(i uint64) Value { return v.Index(i) }, level)
}

func (w *Writer) goSlice(v *Value, level int, typed bool) {
	fields := v.Type.Strip().Fields()
	addr, err := v.Word(0)
	length, err2 := v.Word(1)
	capacity, err3 := v.Word(2)
	if err != nil || err2 != nil || err3 != nil || len(fields) < 3 || fields[0].Type.Strip().Kind != Pointer {
		w.goUnreadable(ErrUnavailable)
		return
	}
	elem := fields[0].Type.Strip().Elem()
	size, ok := elem.SizeOf()
	switch {
	case int64(length) < 0:
		w.Put("(unreadable Negative array length)")
		return
	case addr == 0 && length > 0:
		w.Put("(unreadable non-zero length array with nil base)")
		return
	case !ok || size > 0 && length > maxObject/size:
		w.Put("(unreadable bad array base address 0x" + strconv.FormatUint(addr, 16) + ")")
		return
	}
	if typed {
		w.Put(goTypeName(v.Type) + " len: " + strconv.FormatUint(length, 10) + ", cap: " + strconv.FormatInt(int64(capacity), 10) + ", ")
	}
	if addr == 0 {
		w.Put("nil")
		return
	}
	w.goElements(length, func(i uint64) Value { return v.At(elem, addr+i*size) }, level)
}

func (w *Writer) goStruct(v *Value, level int, typed bool) {
	t := v.Type.Strip()
	fields := t.Fields()
	if level > maxGoLevel && len(fields) > 0 && v.Place == InMemory {
		w.goAddress("*", goTypeName(v.Type), v.Addr)
		return
	}
	if when, ok := v.goTime(t); ok && level <= maxGoLevel {
		w.Put(goTypeName(v.Type) + "(" + when + ")")
		typed = false
	}
	if typed {
		w.Put(goTypeName(v.Type) + " ")
	}
	w.Put("{")
	for i := range fields {
		if i > 0 {
			w.Put(", ")
		}
		w.Put(fields[i].Name + ": ")
		m := v.Field(&fields[i])
		w.goValue(&m, level+1, true)
	}
	w.Put("}")
}

// goChan writes a channel: how many elements it has, and how many it has room for.
func (w *Writer) goChan(v *Value) {
	addr, _ := v.Uint()
	w.Put(goTypeName(v.Type) + " ")
	if addr == 0 {
		w.Put("nil")
		return
	}
	c := v.Deref()
	n, ok := c.Member("qcount")
	room, ok2 := c.Member("dataqsiz")
	count, err := n.Uint()
	size, err2 := room.Uint()
	if !ok || !ok2 || err != nil || err2 != nil {
		w.Put("(unreadable)")
		return
	}
	w.Put(strconv.FormatUint(count, 10) + "/" + strconv.FormatUint(size, 10))
}

// goFunc writes a function or closure: the name of its code.
func (w *Writer) goFunc(v *Value) {
	addr, _ := v.Uint()
	if addr == 0 {
		w.Put("nil")
		return
	}
	b := make([]byte, v.Type.r.Arch.PtrSize)
	if err := v.ReadMemory(addr, b); err != nil {
		w.goUnreadable(err)
		return
	}
	pc := number(b, v.Type.ByteOrder() == bigEndian)
	name, _, ok := v.Type.r.SymbolAt(pc)
	if !ok {
		w.Put("(unreadable could not find function for 0x" + strconv.FormatUint(pc, 16) + ")")
		return
	}
	w.Put(name)
}
