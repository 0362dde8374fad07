package value

// libcxxString writes a std::basic_string of libc++: a short one lies within the object.
func libcxxString(o *object) *shown {
	rep, ok := o.v.libcxxMember("__r_", "__rep_")
	if !ok {
		return nil
	}
	long, ok := rep.oneMember("__l", 0)
	short, ok2 := rep.oneMember("__s", 0)
	if !ok || !ok2 {
		return nil
	}
	n, isShort, ok := o.shortLength(&short, &long)
	if !ok {
		return nil
	}
	if !isShort {
		addr, elem, ok := long.libcxxPointer("__data_")
		n, ok2 := long.libcxxNumber("__size_")
		if !ok || !ok2 {
			return nil
		}
		return o.characters(addr, elem, n)
	}
	data, ok := short.member("__data_")
	if !ok || data.Type.Strip().Kind != Array {
		return nil
	}
	elem := data.Type.Strip().Elem()
	size := elem.sizeOrZero()
	b, err := data.Bytes()
	if err != nil || size == 0 || size > 4 || n > uint64(len(b))/size {
		return nil
	}
	most := min(n, uint64(o.w.p.elements()))
	in := &Writer{p: o.w.p, cost: o.w.cost}
	in.charactersIn(b[:most*size], elem, size, most < n)
	return &shown{text: in.String()}
}

// shortLength returns the number of characters of a string if it is short. Before LLVM 15, one bit of the length's byte said so.
// Where it is, and whether the length is above it, depends on the order of bytes, and on whether the layout is the alternate one, in which
// the pointer to the text of a long string comes first.
func (o *object) shortLength(short, long *Value) (n uint64, isShort, ok bool) {
	m, ok := short.member("__size_")
	n, err := m.Uint()
	if !ok || err != nil {
		return 0, false, false
	}
	if flag, ok := short.oneMember("__is_long_", 0); ok {
		isLong, err := flag.Uint()
		return n, isLong == 0, err == nil
	}
	fields := long.Type.Strip().Fields()
	if len(fields) == 0 {
		return 0, false, false
	}
	if alternate := fields[0].Name == "__data_"; alternate == (o.t.ByteOrder() == bigEndian) {
		return n >> 1, n&1 == 0, true
	}
	return n &^ 0x80, n&0x80 == 0, true
}

// libcxxView writes a std::basic_string_view of libc++.
func libcxxView(o *object) *shown {
	addr, elem, ok := o.v.libcxxPointer("__data_", "__data")
	n, ok2 := o.v.libcxxNumber("__size_", "__size")
	if !ok || !ok2 {
		return nil
	}
	return o.characters(addr, elem, n)
}

// libcxxPath writes a std::filesystem::path of libc++, which is its text.
func libcxxPath(o *object) *shown {
	name, ok := o.v.member("__pn_")
	if !ok {
		return nil
	}
	return o.w.textOf("filesystem::path ", &name, "")
}
