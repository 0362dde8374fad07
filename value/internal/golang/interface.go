package golang

import (
	"reflect"

	"github.com/sfwalk/sfwalk/value"
)

// iface writes the value in an interface, with its type.
func iface(w *value.Writer, v *value.Value, level int, typed bool) {
	data, t, err := v.Inside()
	if t == nil {
		if err != nil {
			unreadable(w, err)
			return
		}
		if typed {
			w.Put(v.Type.Name + " ")
		}
		w.Put("nil")
		return
	}
	if typed {
		w.Put(v.Type.Name + "(" + t.Name + ") ")
	}
	kind, _ := t.GoKind()
	if level > maxLevel {
		if kind == reflect.Pointer || kind == reflect.UnsafePointer {
			w.Put("...")
			return
		}
		w.Put("*")
		address(w, "*", v.Type.Name, v.Addr)
		return
	}
	if err != nil {
		unreadable(w, err)
		return
	}
	if n, err := data.Uint(); err == nil && n == 0 && kind == reflect.Pointer {
		w.Put("nil")
		return
	}
	put(w, &data, level, !typed)
}
