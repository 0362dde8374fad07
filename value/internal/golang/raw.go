package golang

import (
	"strconv"

	"github.com/sfwalk/sfwalk/value"
)

// Raw writes a value of Go as GDB does. It reports false if that is as in C.
func Raw(w *value.Writer, v *value.Value) bool {
	switch t := v.Type.Strip(); {
	case t.Kind == value.Function:
		w.Put("{" + t.Unnamed().String() + "} ") // GDB has no names of function types
		w.Address(v, v.Addr)
		return true
	case isString(t):
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
		rawText(w, v, t.Fields()[0].Type.Strip().Elem(), addr, length)
		return true
	}
	return false
}

func isString(t *value.Type) bool {
	f := t.Fields()
	return t.Kind == value.Struct && len(f) == 2 && f[0].Name == "str" && f[1].Name == "len" && f[0].Type.Strip().Kind == value.Pointer
}

func rawText(w *value.Writer, v *value.Value, elem *value.Type, addr, n uint64) {
	b := make([]byte, min(n, uint64(w.Limit()), maxText))
	if err := v.ReadMemory(addr, b); err != nil {
		w.TextAt(v, elem, addr, n)
		return
	}
	whole := uint64(len(b)) == n
	if whole && n > 0 && b[n-1] == 0 { // as if it were a text in C
		b = b[:n-1]
	}
	w.Quoted(b, elem, !whole)
}
