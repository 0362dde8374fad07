package golang

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/value"
)

func text(w *value.Writer, v *value.Value) {
	addr, err := v.Word(0)
	length, err2 := v.Word(1)
	switch n := int64(length); {
	case err != nil || err2 != nil:
		unreadable(w, value.ErrUnavailable)
	case n < 0:
		w.Put("(unreadable invalid length: " + strconv.FormatInt(n, 10) + ")")
	case n == 0:
		w.Put(`""`)
	default:
		b := make([]byte, min(length, uint64(w.Limit()), maxText))
		if err := v.ReadMemory(addr, b); err != nil {
			w.Put("(unreadable could not read string at 0x" + strconv.FormatUint(addr, 16) + " due to " + err.Error() + ")")
			return
		}
		text := string(b)
		if more := length - uint64(len(b)); more > 0 {
			text += "...+" + strconv.FormatUint(more, 10) + " more"
		}
		w.Put(strconv.Quote(text))
	}
}

// elements writes n elements.
func elements(w *value.Writer, n uint64, at func(i uint64) value.Value, level int) {
	w.Put("[")
	i := uint64(0)
	limit := uint64(w.Limit())
	wrong := 0
	for ; i < n && i < limit && !w.Full() && wrong <= maxWrong; i++ {
		if i > 0 {
			w.Put(",")
		}
		x := at(i)
		put(w, &x, level+1, false)
		if x.Lost() != nil {
			wrong++
		}
	}
	if i < n {
		if i > 0 {
			w.Put(",...+" + strconv.FormatUint(n-i, 10) + " more")
		} else {
			w.Put("...")
		}
	}
	w.Put("]")
}

// maxWrong bounds elements that cannot be read.
const maxWrong = 3

func array(w *value.Writer, v *value.Value, level int, typed bool) {
	if typed {
		w.Put(v.Type.Name + " ")
	}
	elements(w, v.Type.Strip().Bounds().Count, func(i uint64) value.Value { return v.Index(i) }, level)
}

func slice(w *value.Writer, v *value.Value, level int, typed bool) {
	fields := v.Type.Strip().Fields()
	addr, err := v.Word(0)
	length, err2 := v.Word(1)
	capacity, err3 := v.Word(2)
	if err != nil || err2 != nil || err3 != nil || len(fields) < 3 || fields[0].Type.Strip().Kind != value.Pointer {
		unreadable(w, value.ErrUnavailable)
		return
	}
	elem := fields[0].Type.Strip().Elem()
	size, ok := elem.SizeOf()
	switch {
	case int64(length) < 0:
		w.Put("(unreadable Negative array length)")
		return
	case addr == 0 && length > 0:
		w.Put("(unreadable non-zero length array with nil base)")
		return
	case !ok || size > 0 && length > maxObject/size:
		w.Put("(unreadable bad array base address 0x" + strconv.FormatUint(addr, 16) + ")")
		return
	}
	if typed {
		w.Put(v.Type.Name + " len: " + strconv.FormatUint(length, 10) + ", cap: " + strconv.FormatInt(int64(capacity), 10) + ", ")
	}
	if addr == 0 {
		w.Put("nil")
		return
	}
	elements(w, length, func(i uint64) value.Value { return v.At(elem, addr+i*size) }, level)
}

func structure(w *value.Writer, v *value.Value, level int, typed bool) {
	t := v.Type.Strip()
	fields := t.Fields()
	if level > maxLevel && len(fields) > 0 && v.Place == value.InMemory {
		address(w, "*", v.Type.Name, v.Addr)
		return
	}
	if when, ok := moment(v, t); ok && level <= maxLevel {
		w.Put(v.Type.Name + "(" + when + ")")
		typed = false
	}
	if typed {
		w.Put(v.Type.Name + " ")
	}
	w.Put("{")
	for i := range fields {
		if i > 0 {
			w.Put(", ")
		}
		w.Put(fields[i].Name + ": ")
		m := v.Field(&fields[i])
		put(w, &m, level+1, true)
	}
	w.Put("}")
}

// channel writes a channel: how many elements it has, and how many it has room for.
func channel(w *value.Writer, v *value.Value) {
	addr, _ := v.Uint()
	w.Put(v.Type.Name + " ")
	if addr == 0 {
		w.Put("nil")
		return
	}
	c := v.Deref()
	n, ok := c.Member("qcount")
	room, ok2 := c.Member("dataqsiz")
	count, err := n.Uint()
	size, err2 := room.Uint()
	if !ok || !ok2 || err != nil || err2 != nil {
		w.Put("(unreadable)")
		return
	}
	w.Put(strconv.FormatUint(count, 10) + "/" + strconv.FormatUint(size, 10))
}

// function writes a function or closure: the name of its code.
func function(w *value.Writer, v *value.Value) {
	addr, _ := v.Uint()
	if addr == 0 {
		w.Put("nil")
		return
	}
	b := make([]byte, v.Type.Reader().Arch.PtrSize)
	if err := v.ReadMemory(addr, b); err != nil {
		unreadable(w, err)
		return
	}
	pc := word(v, b)
	name, _, ok := v.Type.Reader().SymbolAt(pc)
	if !ok {
		w.Put("(unreadable could not find function for 0x" + strconv.FormatUint(pc, 16) + ")")
		return
	}
	w.Put(name)
}

// word returns the number that bytes of a value are: of any size, for a broken program may say what
// it wants.
func word(v *value.Value, b []byte) (n uint64) {
	b = slices.Clone(b)
	if v.Type.ByteOrder() == binary.LittleEndian {
		slices.Reverse(b)
	}
	for _, x := range b[max(0, len(b)-8):] {
		n = n<<8 | uint64(x)
	}
	return n
}

// maxText bounds the bytes that are read of one text, maxObject the size of an object.
const (
	maxText   = 1 << 16
	maxObject = 1 << 47
)
