package libcxx

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// text writes a std::basic_string of libc++: a short one lies within the object.
func text(o object) *value.Shown {
	rep, ok := cxx.First(o.V, "__r_", "__rep_")
	if !ok {
		return nil
	}
	long, ok := rep.Member("__l")
	short, ok2 := rep.Member("__s")
	if !ok || !ok2 {
		return nil
	}
	n, isShort, ok := o.shortLength(&short, &long)
	if !ok {
		return nil
	}
	if !isShort {
		addr, elem, ok := cxx.FirstPointer(&long, "__data_")
		n, ok2 := cxx.FirstNumber(&long, "__size_")
		if !ok || !ok2 {
			return nil
		}
		return o.Characters(addr, elem, n)
	}
	data, ok := cxx.Member(&short, "__data_")
	if !ok || data.Type.Strip().Kind != value.Array {
		return nil
	}
	elem := data.Type.Strip().Elem()
	size := cxx.Size(elem)
	b, err := data.Bytes()
	if err != nil || size == 0 || size > 4 || n > uint64(len(b))/size {
		return nil
	}
	return &value.Shown{Text: o.W.CharactersIn(b, elem, n)}
}

// shortLength returns the number of characters of a string if it is short. Before LLVM 15, one bit
// of the length's byte said so. Where it is, and whether the length is above it, depends on the
// order of bytes, and on whether the layout is the alternate one, in which the pointer to the text
// of a long string comes first.
func (o object) shortLength(short, long *value.Value) (n uint64, isShort, ok bool) {
	m, ok := cxx.Member(short, "__size_")
	n, err := m.Uint()
	if !ok || err != nil {
		return 0, false, false
	}
	if flag, ok := short.Member("__is_long_"); ok {
		isLong, err := flag.Uint()
		return n, isLong == 0, err == nil
	}
	fields := long.Type.Strip().Fields()
	if len(fields) == 0 {
		return 0, false, false
	}
	if alternate := fields[0].Name == "__data_"; alternate == (o.T.ByteOrder() == binary.BigEndian) {
		return n >> 1, n&1 == 0, true
	}
	return n &^ 0x80, n&0x80 == 0, true
}

// view writes a std::basic_string_view of libc++.
func view(o object) *value.Shown {
	addr, elem, ok := cxx.FirstPointer(o.V, "__data_", "__data")
	n, ok2 := cxx.FirstNumber(o.V, "__size_", "__size")
	if !ok || !ok2 {
		return nil
	}
	return o.Characters(addr, elem, n)
}

// path writes a std::filesystem::path of libc++, which is its text.
func path(o object) *value.Shown {
	name, ok := cxx.Member(o.V, "__pn_")
	if !ok {
		return nil
	}
	return o.TextOf("filesystem::path ", &name, "")
}
