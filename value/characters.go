package value

import "unicode/utf8"

// Characters are a text that is in the memory of a process.
type Characters struct {
	// Text is the text in UTF-8, as far as it was asked for. Bytes that are no characters are in it
	// as they are.
	Text string
	// More is how many characters follow that were not asked for, as far as they can be read and
	// are not behind 64 KiB.
	More int
}

// IsText reports whether values of a type are texts: arrays of characters, and pointers to them, as
// GDB sees them.
func (t *Type) IsText() bool {
	s := t.Strip()
	if s.Kind != Pointer && (s.Kind != Array || s.Vector) {
		return false
	}
	n, ok := s.Elem().SizeOf()
	return ok && n > 0 && n <= 4 && (&Writer{}).textual(s.Elem())
}

// IsCharacter reports whether values of a type are characters, as GDB sees them.
func (t *Type) IsCharacter() bool { return (&Writer{}).textual(t) }

// IsSigned reports whether numbers of a type may be negative.
func (t *Type) IsSigned() bool { return t.Strip().isSigned() }

// Characters returns the text that a value of a type that [Type.IsText] is or points to, with at
// most limit characters. Zeros at the end of an array are not part of it; a pointer's text ends at
// a zero. The error says why the text or its end cannot be read; the text before is there. A null
// pointer has no text.
func (v *Value) Characters(limit int) (c Characters, err error) {
	t := v.Type.Strip()
	elem := t.Elem()
	size, _ := elem.SizeOf()
	var raw []byte
	if t.Kind == Array {
		raw, err = v.Bytes()
		if err == ErrTooLarge && v.Place == InMemory {
			raw = make([]byte, size*min(t.Bounds().Count, maxRead/size))
			err = v.ReadMemory(v.Addr, raw)
		}
		if err != nil {
			return c, err
		}
		for uint64(len(raw)) >= size && isZero(raw[uint64(len(raw))-size:]) {
			raw = raw[:uint64(len(raw))-size]
		}
	} else {
		addr, err2 := v.Uint()
		if err2 != nil || addr == 0 {
			return c, err2
		}
		raw, err = readText(v, addr, size, maxRead/size)
		for i := uint64(0); i+size <= uint64(len(raw)); i += size {
			if isZero(raw[i : i+size]) {
				raw = raw[:i]
				break
			}
		}
	}
	w := Writer{}
	k := w.classOf(elem)
	n := 0
	var text []byte
	for ; len(raw) >= k.size; n++ {
		e := k.next(raw)
		if n < limit {
			if k.size > 1 && e.ok {
				text = utf8.AppendRune(text, e.r)
			} else if k.size > 1 {
				text = utf8.AppendRune(text, utf8.RuneError)
			} else {
				text = append(text, e.raw...)
			}
		}
		raw = raw[len(e.raw):]
	}
	c.Text, c.More = string(text), max(0, n-limit)
	return c, err
}
