package value

import "errors"

// goInside returns what is in an interface, and its type, which is nil if the interface is.
func (v *Value) goInside() (data Value, t *Type, err error) {
	word, err := v.Word(0)
	fields := v.Type.Strip().Fields()
	if err != nil || len(fields) < 2 {
		return data, nil, ErrUnavailable
	}
	size := uint64(v.Type.r.Arch.PtrSize)
	if word != 0 && fields[0].Name == "tab" { // an interface with methods: the second word of its table is the type
		b := make([]byte, size)
		if err := v.ReadMemory(word+size, b); err != nil {
			return data, nil, err
		}
		word = number(b, v.Type.ByteOrder() == bigEndian)
	}
	if word == 0 {
		return data, nil, nil
	}
	t, direct := v.goDynamic(word)
	if t == nil {
		return data, nil, errNoDynamic
	}
	if n, ok := t.SizeOf(); direct && ok && n <= size {
		return v.part(t, int64(size), n), t, nil
	}
	addr, err := v.Word(1)
	return v.At(t, addr), t, err
}

var errNoDynamic = errors.New("could not resolve interface type")

// goInterface writes the value in an interface, with its type.
func (w *Writer) goInterface(v *Value, level int, typed bool) {
	data, t, err := v.goInside()
	if t == nil {
		if err != nil {
			w.goUnreadable(err)
			return
		}
		if typed {
			w.Put(goTypeName(v.Type) + " ")
		}
		w.Put("nil")
		return
	}
	if typed {
		w.Put(goTypeName(v.Type) + "(" + goTypeName(t) + ") ")
	}
	kind, _ := goKindOf(t)
	if level > maxGoLevel {
		if kind == goPointer || kind == goUnsafePointer {
			w.Put("...")
			return
		}
		w.Put("*")
		w.goAddress("*", goTypeName(v.Type), v.Addr)
		return
	}
	if err != nil {
		w.goUnreadable(err)
		return
	}
	if n, err := data.Uint(); err == nil && n == 0 && kind == goPointer {
		w.Put("nil")
		return
	}
	w.goValue(&data, level, !typed)
}
