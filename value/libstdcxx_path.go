package value

// Kinds of paths, of std::filesystem::path::_Type.
const (
	pathMulti    = 0 // it has components
	pathRootName = 1
	pathRootDir  = 2
)

// pathKind returns what GDB writes of the kind of a path or of a component; "" for a usual one.
func pathKind(kind uint64) string {
	switch kind {
	case pathRootName:
		return "root-name"
	case pathRootDir:
		return "root-directory"
	}
	return ""
}

// path writes a std::filesystem::path. Its components are behind a pointer with the path's kind in its lowest bits.
func path(o *object) *shown {
	impl, ok := o.v.member("_M_cmpts", "_M_impl")
	if !ok {
		return nil
	}
	p, ok := uniquePointer(&impl)
	bits, err := p.Uint()
	if !ok || err != nil {
		return nil
	}
	s := o.pathText("filesystem::path ", bits&3)
	if s == nil || bits == 0 || bits&3 != pathMulti || s.err != nil {
		return s
	}
	// The number of components and the room for them, then the components: paths with their place in the text.
	self := o.t.sizeOrZero()
	align := max(o.t.alignment(false), o.ptrSize())
	size := alignUp(self+o.ptrSize(), align)
	s.children = func(yield func(child) bool) {
		var b [4]byte
		if err := o.v.ReadMemory(o.t.r.Arch.Wrap(bits), b[:]); err != nil {
			yield(child{err: err})
			return
		}
		n := int64(int32(o.t.ByteOrder().Uint32(b[:])))
		for i := int64(0); i != n; i++ {
			v := o.at(o.t, bits+max(8, align)+uint64(i)*size)
			if !o.component(&v, i, yield) {
				return
			}
		}
	}
	return s
}

// pathText writes a path without its components.
func (o *object) pathText(before string, kind uint64) *shown {
	name, ok := o.v.member("_M_pathname")
	if !ok {
		return nil
	}
	s := o.w.textOf(before, &name, "")
	if text := pathKind(kind); text != "" {
		s.text += " [" + text + "]"
	}
	s.children = nothing
	return s
}

// component yields the i-th component of a path.
func (o *object) component(v *Value, i int64, yield func(child) bool) bool {
	in := &object{w: o.w, v: v, t: o.t}
	kind := uint64(0)
	if m, ok := v.oneMember("_M_type", 0); ok {
		kind, _ = m.Uint()
	} else if impl, ok := v.member("_M_cmpts", "_M_impl"); ok {
		p, _ := uniquePointer(&impl)
		kind, _ = p.Uint()
		kind &= 3
	}
	if err := v.Err(); err != nil {
		yield(child{err: err})
		return false
	}
	name, ok := in.v.member("_M_pathname")
	if !ok {
		return false
	}
	text := pathKind(kind)
	if text == "" {
		return yield(child{name: index(int(i)), value: name})
	}
	return yield(child{name: "[" + text + "]", value: name})
}

// experimentalPath writes a std::experimental::filesystem::path, whose components are a vector.
func experimentalPath(o *object) *shown {
	start, elem, ok := o.pointerTo("_M_cmpts", "_M_impl", "_M_start")
	end, _, ok2 := o.pointerTo("_M_cmpts", "_M_impl", "_M_finish")
	kind, ok3 := o.v.member("_M_type")
	n, err := kind.Uint()
	if !ok || !ok2 || !ok3 || err != nil {
		return nil
	}
	count := o.distance(end, start, elem.sizeOrZero())
	if count != 0 {
		n = pathMulti
	}
	s := o.pathText("experimental::filesystem::path ", n)
	if s == nil || s.err != nil {
		return s
	}
	s.children = func(yield func(child) bool) {
		i := int64(0)
		for v := range o.run(elem, start, end) {
			if !o.component(&v, i, yield) {
				return
			}
			i++
		}
	}
	return s
}
