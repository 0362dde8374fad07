package value

// goInterface writes the value in an interface, with its type.
func (w *writer) goInterface(v *Value, level int, typed bool) {
	word, err := v.word(0)
	fields := v.Type.Strip().Fields()
	if err != nil || len(fields) < 2 {
		w.goUnreadable(ErrUnavailable)
		return
	}
	size := uint64(v.Type.r.Arch.PtrSize)
	if word != 0 && fields[0].Name == "tab" { // an interface with methods: the second word of its table is the type
		b := make([]byte, size)
		if err := v.readMemory(word+size, b); err != nil {
			w.goUnreadable(err)
			return
		}
		word = number(b, v.Type.order() == bigEndian)
	}
	if word == 0 {
		if typed {
			w.put(goTypeName(v.Type) + " ")
		}
		w.put("nil")
		return
	}
	t, direct := v.goDynamic(word)
	if t == nil {
		w.put("(unreadable could not resolve interface type)")
		return
	}
	if typed {
		w.put(goTypeName(v.Type) + "(" + goTypeName(t) + ") ")
	}
	kind, _ := goKindOf(t)
	if level > maxGoLevel {
		if kind == goPointer || kind == goUnsafePointer {
			w.put("...")
			return
		}
		w.put("*")
		w.goAddress("*", goTypeName(v.Type), v.Addr)
		return
	}
	var data Value
	if n, ok := t.size(); direct && ok && n <= size {
		data = v.part(t, int64(size), n)
	} else {
		addr, err := v.word(1)
		if err != nil {
			w.goUnreadable(err)
			return
		}
		data = v.at(t, addr)
	}
	if n, err := data.Uint(); err == nil && n == 0 && kind == goPointer {
		w.put("nil")
		return
	}
	w.goValue(&data, level, !typed)
}
