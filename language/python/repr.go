package python

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of the text of one value.
const (
	mostItems = 10   // of a list, tuple, set, dictionary
	mostDepth = 6    // of objects in objects
	mostText  = 200  // characters of a string
	mostValue = 1000 // bytes of a value, beyond which no more is added
	mostDigit = 1 << 10
)

// value returns an object as Python's repr() writes it, bounded. What is left out is "...". The
// code that a class has for it cannot run: its objects are written as if it had none.
func (o *objects) value(object uint64) string {
	w := writer{objects: o}
	w.object(object)
	return w.text.String()
}

// writer writes one value.
type writer struct {
	*objects
	text  strings.Builder
	above []uint64 // the objects that hold the one that is written
}

func (w *writer) write(text string) { w.text.WriteString(text) }

// object writes an object.
func (w *writer) object(object uint64) {
	if object == 0 {
		w.write("<NULL>")
		return
	}
	if len(w.above) > mostDepth || w.text.Len() > mostValue {
		w.write("...")
		return
	}
	c, err := w.classOf(object)
	if err != nil {
		w.write("<unreadable>")
		return
	}
	if slices.Contains(w.above, object) {
		switch {
		case c.flags&flagList != 0:
			w.write("[...]")
		case c.flags&flagTuple != 0:
			w.write("(...)")
		case c.flags&flagDict != 0:
			w.write("{...}")
		default:
			w.write("...")
		}
		return
	}
	w.above = append(w.above, object)
	start := w.text.Len()
	if err := w.byType(object, c); err != nil {
		kept := w.text.String()[:start]
		w.text.Reset()
		w.write(kept)
		w.plain(object, c)
	}
	w.above = w.above[:len(w.above)-1]
}

// byType writes an object by its type.
func (w *writer) byType(object uint64, c *class) error {
	switch {
	case c.enum:
		return w.member(object, c)
	case c.dataclass:
		return w.fields(object, c)
	case c.named:
		return w.namedTuple(object, c)
	case c.flags&flagInt != 0:
		return w.of(c, "int bool", func() error { return w.int(object, c) })
	case c.flags&flagStr != 0:
		return w.of(c, "str", func() error { return w.str(object) })
	case c.flags&flagBytes != 0:
		return w.of(c, "bytes", func() error { return w.bytes(object) })
	case c.flags&flagList != 0:
		return w.of(c, "list", func() error { return w.sequence(object, "[", "]") })
	case c.flags&flagTuple != 0:
		return w.of(c, "tuple", func() error { return w.sequence(object, "(", ")") })
	case c.flags&flagDict != 0:
		return w.of(c, "dict", func() error { return w.dict(object) })
	case c.flags&flagException != 0:
		return w.exception(object, c)
	case c.flags&flagType != 0:
		return w.classObject(object)
	case c.heap():
		return w.builtinBase(object, c)
	}
	return w.builtin(object, c, c.name)
}

// of writes what do writes, within the name of the class if it is none of the builtin ones.
func (w *writer) of(c *class, builtin string, do func() error) error {
	if !c.heap() && slices.Contains(strings.Fields(builtin), c.name) {
		return do()
	}
	w.write(c.qualified + "(")
	if err := do(); err != nil {
		return err
	}
	w.write(")")
	return nil
}

// builtinBase writes an object of a class that extends a builtin one.
func (w *writer) builtinBase(object uint64, c *class) error {
	for base, n := c, 0; base.base != 0 && n < 32; n++ {
		var err error
		if base, err = w.class(base.base); err != nil {
			return err
		}
		switch base.name {
		case "float", "complex", "set", "frozenset", "bytearray":
			if !base.heap() {
				return w.of(c, "", func() error { return w.builtin(object, base, base.name) })
			}
		}
	}
	return w.builtin(object, c, c.qualified)
}

// builtin writes an object of one of Python's own types.
func (w *writer) builtin(object uint64, c *class, name string) error {
	l := w.layout
	switch name {
	case "NoneType":
		w.write("None")
	case "ellipsis":
		w.write("Ellipsis")
	case "NotImplementedType":
		w.write("NotImplemented")
	case "float":
		v, err := w.double(object + l.at[floatValue])
		if err != nil {
			return err
		}
		w.write(floatText(v))
	case "complex":
		return w.complex(object)
	case "set", "frozenset":
		return w.set(object, name)
	case "bytearray":
		return w.bytearray(object)
	case "module":
		return w.module(object)
	case "function":
		text, err := w.fieldText(object, functionName)
		if err != nil {
			return err
		}
		w.write(fmt.Sprintf("<function %s at %#x>", text, object))
	case "code", "frame":
		w.write(fmt.Sprintf("<%s object at %#x>", c.name, object))
	case "pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib._local.PosixPath", "pathlib._local.PurePosixPath":
		return w.path(object, c)
	default:
		if ok, err := w.library(object, c, name); ok || err != nil {
			return err
		}
		w.plain(object, c)
	}
	return nil
}

// plain writes an object as object.__repr__ does.
func (w *writer) plain(object uint64, c *class) {
	w.write(fmt.Sprintf("<%s object at %#x>", c.qualified, object))
}
