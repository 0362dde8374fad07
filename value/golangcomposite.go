package value

import "strconv"

// word returns a word within a value.
func (v *Value) word(i int) (uint64, error) {
	size := v.Type.r.Arch.PtrSize
	p := v.part(v.Type, int64(i*size), uint64(size))
	return p.Uint()
}

func (w *writer) goString(v *Value) {
	addr, err := v.word(0)
	length, err2 := v.word(1)
	switch n := int64(length); {
	case err != nil || err2 != nil:
		w.goUnreadable(ErrUnavailable)
	case n < 0:
		w.put("(unreadable invalid length: " + strconv.FormatInt(n, 10) + ")")
	case n == 0:
		w.put(`""`)
	default:
		b := make([]byte, min(length, uint64(w.p.elements()), maxRead))
		if err := v.readMemory(addr, b); err != nil {
			w.put("(unreadable could not read string at 0x" + strconv.FormatUint(addr, 16) + " due to " + err.Error() + ")")
			return
		}
		text := string(b)
		if more := length - uint64(len(b)); more > 0 {
			text += "...+" + strconv.FormatUint(more, 10) + " more"
		}
		w.put(strconv.Quote(text))
	}
}

// goElements writes n elements.
func (w *writer) goElements(n uint64, at func(i uint64) Value, level int) {
	w.put("[")
	i := uint64(0)
	limit := uint64(w.p.elements())
	wrong := 0
	for ; i < n && i < limit && !w.full && wrong <= maxGoWrong; i++ {
		if i > 0 {
			w.put(",")
		}
		x := at(i)
		w.goValue(&x, level+1, false)
		if x.err != nil {
			wrong++
		}
	}
	if i < n {
		if i > 0 {
			w.put(",...+" + strconv.FormatUint(n-i, 10) + " more")
		} else {
			w.put("...")
		}
	}
	w.put("]")
}

// maxGoWrong bounds elements that cannot be read.
const maxGoWrong = 3

func (w *writer) goArray(v *Value, level int, typed bool) {
	if typed {
		w.put(goTypeName(v.Type) + " ")
	}
	w.goElements(v.Type.Strip().Bounds().Count, func(i uint64) Value { return v.Index(i) }, level)
}

func (w *writer) goSlice(v *Value, level int, typed bool) {
	fields := v.Type.Strip().Fields()
	addr, err := v.word(0)
	length, err2 := v.word(1)
	capacity, err3 := v.word(2)
	if err != nil || err2 != nil || err3 != nil || len(fields) < 3 || fields[0].Type.Strip().Kind != Pointer {
		w.goUnreadable(ErrUnavailable)
		return
	}
	elem := fields[0].Type.Strip().Elem()
	size, ok := elem.size()
	switch {
	case int64(length) < 0:
		w.put("(unreadable Negative array length)")
		return
	case addr == 0 && length > 0:
		w.put("(unreadable non-zero length array with nil base)")
		return
	case !ok || size > 0 && length > maxObject/size:
		w.put("(unreadable bad array base address 0x" + strconv.FormatUint(addr, 16) + ")")
		return
	}
	if typed {
		w.put(goTypeName(v.Type) + " len: " + strconv.FormatUint(length, 10) + ", cap: " + strconv.FormatInt(int64(capacity), 10) + ", ")
	}
	if addr == 0 {
		w.put("nil")
		return
	}
	w.goElements(length, func(i uint64) Value { return v.at(elem, addr+i*size) }, level)
}

func (w *writer) goStruct(v *Value, level int, typed bool) {
	t := v.Type.Strip()
	fields := t.Fields()
	if level > maxGoLevel && len(fields) > 0 && v.Place == InMemory {
		w.goAddress("*", goTypeName(v.Type), v.Addr)
		return
	}
	if when, ok := v.goTime(t); ok && level <= maxGoLevel {
		w.put(goTypeName(v.Type) + "(" + when + ")")
		typed = false
	}
	if typed {
		w.put(goTypeName(v.Type) + " ")
	}
	w.put("{")
	for i := range fields {
		if i > 0 {
			w.put(", ")
		}
		w.put(fields[i].Name + ": ")
		m := v.Field(&fields[i])
		w.goValue(&m, level+1, true)
	}
	w.put("}")
}

// goChan writes a channel: how many elements it has, and how many it has room for.
func (w *writer) goChan(v *Value) {
	addr, _ := v.Uint()
	w.put(goTypeName(v.Type) + " ")
	if addr == 0 {
		w.put("nil")
		return
	}
	c := v.Deref()
	n, ok := c.dig("qcount")
	room, ok2 := c.dig("dataqsiz")
	count, err := n.number()
	size, err2 := room.number()
	if !ok || !ok2 || err != nil || err2 != nil {
		w.put("(unreadable)")
		return
	}
	w.put(strconv.FormatUint(count, 10) + "/" + strconv.FormatUint(size, 10))
}

// goFunc writes a function or closure: the name of its code.
func (w *writer) goFunc(v *Value) {
	addr, _ := v.Uint()
	if addr == 0 {
		w.put("nil")
		return
	}
	b := make([]byte, v.Type.r.Arch.PtrSize)
	if err := v.readMemory(addr, b); err != nil {
		w.goUnreadable(err)
		return
	}
	pc := number(b, v.Type.order() == bigEndian)
	name, _, ok := v.Type.r.symbolAt(pc)
	if !ok {
		w.put("(unreadable could not find function for 0x" + strconv.FormatUint(pc, 16) + ")")
		return
	}
	w.put(name)
}
