package java

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of the text of one value.
const (
	mostItems = 10   // of an array, a collection, an object's fields
	mostDepth = 6    // of objects in objects
	mostText  = 200  // characters of a string
	mostValue = 1000 // bytes of a value, beyond which no more is added
)

// variable returns the text of a variable's value.
func (r *reading) variable(descriptor string, c content) string {
	w := writer{reading: r}
	w.content(descriptor, &c)
	return w.text.String()
}

// content writes what a variable has, or a field of an object that was taken apart.
func (w *writer) content(descriptor string, c *content) {
	switch {
	case c.why != "":
		w.write(c.why)
	case isReference(descriptor) && c.number || !isReference(descriptor) && c.reference:
		w.write(optimizedOut) // the slot has something else by now
	case c.apart != nil:
		w.apart(c.apart)
	case isReference(descriptor):
		w.object(c.bits)
	default:
		w.write(basic(descriptor, c.bits))
	}
}

// basic returns the text of a value that is no object.
func basic(descriptor string, bits uint64) string {
	switch descriptor {
	case "Z":
		return strconv.FormatBool(bits&1 != 0)
	case "B":
		return strconv.Itoa(int(int8(bits)))
	case "C":
		return character(uint16(bits))
	case "S":
		return strconv.Itoa(int(int16(bits)))
	case "I":
		return strconv.Itoa(int(int32(bits)))
	case "J":
		return strconv.FormatInt(int64(bits), 10)
	case "F":
		return floating(float64(math.Float32frombits(uint32(bits))), 32)
	case "D":
		return floating(math.Float64frombits(bits), 64)
	}
	return unreadable
}

// floating writes a number as Double.toString does: with the fewest digits that tell it from
// others, at least one of them behind the point.
func floating(v float64, size int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	if a := math.Abs(v); a == 0 || a >= 1e-3 && a < 1e7 {
		text := strconv.FormatFloat(v, 'f', -1, size)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, size), "e")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%sE%d", digits, n)
}

func character(c uint16) string {
	if c == '\'' {
		return `'\''`
	}
	text := quoted(string(rune(c)))
	if c >= 0xd800 && c < 0xe000 {
		return fmt.Sprintf(`'\u%04x'`, c) // a half of a character
	}
	if c == '"' {
		return `'"'`
	}
	return "'" + text[1:len(text)-1] + "'"
}

// quoted quotes a string as in Java's sources.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == ' ' || unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			c -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// writer writes one value.
type writer struct {
	*reading
	text  strings.Builder
	above []uint64 // the objects that hold the one that is written
}

func (w *writer) write(text string) { w.text.WriteString(text) }

// object writes an object.
func (w *writer) object(object uint64) {
	if object == 0 {
		w.write("null")
		return
	}
	if len(w.above) > mostDepth || w.text.Len() > mostValue {
		w.write("...")
		return
	}
	object = w.moved(object)
	class := w.classOf(object)
	name := w.className(class)
	switch {
	case name == "":
		w.write(unreadable)
	case slices.Contains(w.above, object):
		w.identity(name, object)
	default:
		w.above = append(w.above, object)
		start := w.text.Len()
		if !w.byClass(object, class, name) {
			kept := w.text.String()[:start]
			w.text.Reset()
			w.write(kept)
			w.identity(name, object)
		}
		w.above = w.above[:len(w.above)-1]
	}
}

// identity writes which object it is.
func (w *writer) identity(name string, object uint64) {
	w.write(fmt.Sprintf("%s@%#x", spokenClass(name), object))
}

// spokenClass returns the name of a class as Java has it: "java.lang.String[]".
func spokenClass(name string) string {
	if strings.HasPrefix(name, "[") {
		return typeName(name)
	}
	return className(name)
}

// byClass writes an object by its class. It reports whether that could be read.
func (w *writer) byClass(object, class uint64, name string) bool {
	if strings.HasPrefix(name, "[") {
		return w.array(object, class, name[1:])
	}
	if basic, ok := boxes[name]; ok {
		return w.box(object, class, basic)
	}
	if write, ok := known[name]; ok {
		return write(w, object, class)
	}
	switch {
	case name == "java/lang/String":
		return w.string(object, class)
	case name == "java/lang/Class":
		return w.class(object)
	case w.derived(class, "java/lang/Enum") != 0:
		return w.constantOf(object, class, name)
	case w.derived(class, "java/lang/Throwable") != 0:
		return w.throwable(object, name)
	case w.derived(class, "java/lang/Record") != 0:
		w.write(simple(name))
		return w.fields(object, class, "[", "]")
	case len(w.above) == 1:
		w.identity(name, object)
		return w.fields(object, class, " {", "}")
	}
	return false
}

// simple returns the name of a class without its package and the classes around it.
func simple(name string) string { return name[strings.LastIndexAny(name, "/$")+1:] }

// string writes a String.
func (w *writer) string(object, class uint64) bool {
	text, n, ok := w.characters(object, class)
	if !ok {
		return false
	}
	units := []rune(text)
	w.write(quoted(string(units[:min(len(units), mostText)])))
	if n > mostText {
		w.write("...")
	}
	return true
}

// class writes a java.lang.Class.
func (w *writer) class(object uint64) bool {
	of, ok := strings.CutPrefix(w.spoken(object), "java.lang.Class for ")
	if !ok {
		return false
	}
	if strings.HasPrefix(of, "[") {
		of = typeName(of)
	}
	w.write(of + ".class")
	return true
}

// constantOf writes a constant of an enumeration: "Color.RED". One with a body is of a class of its
// own.
func (w *writer) constantOf(object, class uint64, name string) bool {
	base := w.derived(class, "java/lang/Enum")
	f, ok := w.place(base, "name")
	text := w.name(w.reference(object + f.offset))
	if !ok || text == "" {
		return false
	}
	if super, _ := w.word(class, "Klass::_super"); super != base && super != 0 {
		name = w.className(super)
	}
	w.write(simple(name) + "." + text)
	return true
}

// name reads a String that is a name.
func (w *writer) name(object uint64) string { return w.reading.text(w.moved(object)) }

// throwable writes an exception as the first line of its trace.
func (w *writer) throwable(object uint64, name string) bool {
	w.write(w.exception(object))
	return w.text.Len() > 0
}

// fields writes the fields of an object.
func (w *writer) fields(object, class uint64, open, end string) bool {
	list, ok := w.fieldsOf(class)
	if !ok {
		return false
	}
	w.write(open)
	for i, f := range list {
		if i > 0 {
			w.write(", ")
		}
		if i == mostItems || w.text.Len() > mostValue {
			w.write("...")
			break
		}
		w.write(f.name + "=")
		w.value(f.descriptor, object+f.offset)
	}
	w.write(end)
	return true
}

// value writes what is at an address within an object.
func (w *writer) value(descriptor string, at uint64) {
	if isReference(descriptor) {
		w.object(w.reference(at))
		return
	}
	size := sizes[descriptor]
	b := w.Read(at, size)
	if len(b) < size || size == 0 {
		w.write(unreadable)
		return
	}
	var bits uint64
	switch size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(w.Order.Uint16(b))
	case 4:
		bits = uint64(w.Order.Uint32(b))
	case 8:
		bits = w.Order.Uint64(b)
	}
	w.write(basic(descriptor, bits))
}

// sizes are how many bytes a value takes in an object, by its type's descriptor.
var sizes = map[string]int{"Z": 1, "B": 1, "C": 2, "S": 2, "I": 4, "J": 8, "F": 4, "D": 8}

// namedField is a field of objects of a class.
type namedField struct {
	name, descriptor string
	offset           uint64
}

// mostNamed bounds the fields of a class and of the classes from which it is derived.
const mostNamed = 1 << 8

// fieldsOf returns the fields that objects of a class have, the outermost base's first.
func (r *reading) fieldsOf(class uint64) (list []namedField, ok bool) {
	var classes []uint64
	for ; class != 0 && len(classes) < maxSupers; class, _ = r.word(class, "Klass::_super") {
		classes = append(classes, class)
	}
	for _, class := range slices.Backward(classes) {
		pool, has := r.word(class, "InstanceKlass::_constants")
		if !has {
			return nil, false
		}
		r.eachField(class, func(f field) bool {
			if f.static() || len(list) == mostNamed {
				return true
			}
			x := namedField{r.constant(pool, f.name), r.constant(pool, f.descriptor), f.offset}
			if x.name == "" || descriptorLength(x.descriptor) != len(x.descriptor) || f.offset == 0 {
				return false
			}
			list = append(list, x)
			return true
		})
	}
	return list, true
}

// apart writes an object that the compiler has taken apart. Its fields are in the order of their
// places in the object.
func (w *writer) apart(x *takenApart) {
	class := w.classOfMirror(x.class)
	name := w.className(class)
	if name == "" || strings.HasPrefix(name, "[") {
		w.write(optimizedOut)
		return
	}
	list, _ := w.fieldsOf(class)
	slices.SortStableFunc(list, func(a, b namedField) int { return int(int64(a.offset) - int64(b.offset)) })
	if _, box := boxes[name]; box && len(list) == 1 && len(x.fields) == 1 {
		w.content(list[0].descriptor, &x.fields[0])
		return
	}
	w.above = append(w.above, x.class)
	w.write(className(name) + " {")
	for i := range x.fields {
		if i > 0 {
			w.write(", ")
		}
		if i == mostItems || i >= len(list) || w.text.Len() > mostValue {
			w.write("...")
			break
		}
		w.write(list[i].name + "=")
		w.content(list[i].descriptor, &x.fields[i])
	}
	w.write("}")
	w.above = w.above[:len(w.above)-1]
}
