package python

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// array writes the head of an array of numpy (PyArrayObject_fields): the items' type and the shape.
func (w *writer) array(object uint64) error {
	const most = 64                           // NPY_MAXDIMS
	words, err := w.words(object+w.head(), 6) // data, dimensions' number, their lengths, strides, base, description
	if err != nil {
		return err
	}
	n := int(int32(words[1]))
	if n < 0 || n > most {
		return errOther
	}
	lengths, err := w.words(words[2], n)
	if err != nil && n > 0 {
		return err
	}
	typ, err := w.word(words[5] + w.head())
	if err != nil {
		return err
	}
	of, err := w.class(typ)
	if err != nil {
		return err
	}
	var list []string
	for _, l := range lengths {
		list = append(list, strconv.FormatUint(l, 10))
	}
	shape := strings.Join(list, ", ")
	if n == 1 {
		shape += ","
	}
	w.write(fmt.Sprintf("<numpy.ndarray (%s) of %s at %#x>", shape, of.name, object))
	return nil
}

// scalar writes a number of numpy's: it follows the head.
func (w *writer) scalar(object uint64, name string) (ok bool, err error) {
	kind := strings.TrimRight(strings.TrimSuffix(name, "_"), "0123456789")
	bits, _ := strconv.Atoi(strings.TrimPrefix(name, kind))
	switch kind {
	case "numpy.bool":
		bits = 8
	case "numpy.int", "numpy.uint", "numpy.float":
	default:
		return false, nil
	}
	if bits != 8 && bits != 16 && bits != 32 && bits != 64 {
		return false, nil
	}
	raw := make([]byte, bits/8)
	if n, err := w.ReadMemory(object+w.head(), raw); n < len(raw) {
		return true, err
	}
	var v uint64
	switch bits {
	case 8:
		v = uint64(raw[0])
	case 16:
		v = uint64(w.order.Uint16(raw))
	case 32:
		v = uint64(w.order.Uint32(raw))
	default:
		v = w.order.Uint64(raw)
	}
	text := ""
	switch {
	case kind == "numpy.bool" && v == 0:
		text = "False"
	case kind == "numpy.bool":
		text = "True"
	case kind == "numpy.uint":
		text = strconv.FormatUint(v, 10)
	case kind == "numpy.int":
		text = strconv.FormatInt(int64(v<<(64-bits))>>(64-bits), 10)
	case bits == 64:
		text = floatText(math.Float64frombits(v))
	case bits == 32:
		text = strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	default:
		return false, nil
	}
	w.write(name + "(" + text + ")")
	return true, nil
}
