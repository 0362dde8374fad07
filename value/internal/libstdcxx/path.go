package libstdcxx

import (
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

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

// path writes a std::filesystem::path. Its components are behind a pointer with the path's kind in
// its lowest bits.
func path(o object) *value.Shown {
	impl, ok := cxx.Member(o.V, "_M_cmpts", "_M_impl")
	if !ok {
		return nil
	}
	p, ok := uniquePointer(&impl)
	bits, err := p.Uint()
	if !ok || err != nil {
		return nil
	}
	s := o.pathText("filesystem::path ", bits&3)
	if s == nil || bits == 0 || bits&3 != pathMulti || s.Err != nil {
		return s
	}
	// The number of components and the room for them, then the components: paths with their place
	// in the text.
	self := cxx.Size(o.T)
	align := max(o.T.Alignment(false), o.PtrSize())
	size := cxx.AlignUp(self+o.PtrSize(), align)
	s.Children = func(yield func(value.Child, error) bool) {
		var b [4]byte
		if err := o.V.ReadMemory(o.Wrap(bits), b[:]); err != nil {
			yield(value.Child{}, err)
			return
		}
		n := int64(int32(o.T.ByteOrder().Uint32(b[:])))
		for i := int64(0); i != n; i++ {
			v := o.At(o.T, bits+max(8, align)+uint64(i)*size)
			if !o.component(&v, i, yield) {
				return
			}
		}
	}
	return s
}

// pathText writes a path without its components.
func (o object) pathText(before string, kind uint64) *value.Shown {
	name, ok := cxx.Member(o.V, "_M_pathname")
	if !ok {
		return nil
	}
	s := o.TextOf(before, &name, "")
	if text := pathKind(kind); text != "" {
		s.Text += " [" + text + "]"
	}
	s.Children = cxx.Nothing
	return s
}

// component yields the i-th component of a path.
func (o object) component(v *value.Value, i int64, yield func(value.Child, error) bool) bool {
	kind := uint64(0)
	if m, ok := v.Member("_M_type"); ok {
		kind, _ = m.Uint()
	} else if impl, ok := cxx.Member(v, "_M_cmpts", "_M_impl"); ok {
		p, _ := uniquePointer(&impl)
		kind, _ = p.Uint()
		kind &= 3
	}
	if err := v.Err(); err != nil {
		yield(value.Child{}, err)
		return false
	}
	name, ok := cxx.Member(v, "_M_pathname")
	if !ok {
		return false
	}
	text := pathKind(kind)
	if text == "" {
		return yield(value.Child{Name: cxx.Index(int(i)), Value: name}, nil)
	}
	return yield(value.Child{Name: "[" + text + "]", Value: name}, nil)
}

// experimentalPath writes a std::experimental::filesystem::path, whose components are a vector.
func experimentalPath(o object) *value.Shown {
	start, elem, ok := o.PointerTo("_M_cmpts", "_M_impl", "_M_start")
	end, _, ok2 := o.PointerTo("_M_cmpts", "_M_impl", "_M_finish")
	kind, ok3 := cxx.Member(o.V, "_M_type")
	n, err := kind.Uint()
	if !ok || !ok2 || !ok3 || err != nil {
		return nil
	}
	count := o.Distance(end, start, cxx.Size(elem))
	if count != 0 {
		n = pathMulti
	}
	s := o.pathText("experimental::filesystem::path ", n)
	if s == nil || s.Err != nil {
		return s
	}
	s.Children = func(yield func(value.Child, error) bool) {
		i := int64(0)
		for v := range o.Run(elem, start, end) {
			if !o.component(&v, i, yield) {
				return
			}
			i++
		}
	}
	return s
}
