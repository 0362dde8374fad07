package python

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
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
	c, err := w.typeOf(object)
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
	default:
		w.plain(object, c)
	}
	return nil
}

// plain writes an object as object.__repr__ does.
func (w *writer) plain(object uint64, c *class) {
	w.write(fmt.Sprintf("<%s object at %#x>", c.qualified, object))
}

func (w *writer) double(addr uint64) (float64, error) {
	var room [8]byte
	if n, err := w.ReadMemory(addr, room[:]); n < len(room) {
		return 0, err
	}
	return math.Float64frombits(w.order.Uint64(room[:])), nil
}

// floatText is float.__repr__: the shortest digits that are read back as the same number.
func floatText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	exponent := 0
	if v != 0 {
		text := strconv.FormatFloat(v, 'e', -1, 64)
		exponent, _ = strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	}
	if exponent < -4 || exponent >= 16 {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func (w *writer) complex(object uint64) error {
	at := object + w.layout.at[complexValue]
	re, err := w.double(at)
	if err != nil {
		return err
	}
	im, err := w.double(at + 8)
	if err != nil {
		return err
	}
	short := func(v float64) string { return strings.TrimSuffix(floatText(v), ".0") }
	if re == 0 && !math.Signbit(re) {
		w.write(short(im) + "j")
		return nil
	}
	sign := "+"
	if math.Signbit(im) && !math.IsNaN(im) {
		sign = ""
	}
	w.write("(" + short(re) + sign + short(im) + "j)")
	return nil
}

// int writes an integer: its digits are in base 2^30, or 2^15.
func (w *writer) int(object uint64, c *class) error {
	v, bits, err := w.integer(object)
	if err != nil {
		return err
	}
	switch {
	case v == nil:
		w.write(fmt.Sprintf("<int of %d bits>", bits))
	case c.name == "bool" && !c.heap() && v.Sign() == 0:
		w.write("False")
	case c.name == "bool" && !c.heap():
		w.write("True")
	default:
		w.write(v.String())
	}
	return nil
}

// integer reads an integer. v is nil if it has more than mostDigit bits.
func (o *objects) integer(object uint64) (v *big.Int, bits int64, err error) {
	l := o.layout
	var n int64
	negative := false
	if l.has(longTag) {
		tag, err := o.pointer(object, longTag)
		if err != nil {
			return nil, 0, err
		}
		n, negative = int64(tag>>3), tag&3 == 2
	} else {
		if n, err = o.sizeOf(object); err != nil {
			return nil, 0, err
		}
		n, negative = max(n, -n), n < 0
	}
	if n < 0 || n > 1<<40 {
		return nil, 0, fmt.Errorf("there is no integer at %#x", object)
	}
	digitBits := int64(30)
	if l.has(longDigitBits) {
		digitBits = int64(l.at[longDigitBits])
	}
	if bits = n * digitBits; bits > mostDigit {
		return nil, bits, nil
	}
	bytes := int64(4)
	if digitBits == 15 {
		bytes = 2
	}
	raw := make([]byte, n*bytes)
	if got, err := o.ReadMemory(object+l.at[longDigits], raw); got < len(raw) {
		return nil, 0, err
	}
	v = new(big.Int)
	for i := n - 1; i >= 0; i-- {
		digit := uint64(0)
		if bytes == 2 {
			digit = uint64(o.order.Uint16(raw[i*2:]))
		} else {
			digit = uint64(o.order.Uint32(raw[i*4:]))
		}
		if digit >= 1<<digitBits {
			return nil, 0, fmt.Errorf("there is no integer at %#x", object)
		}
		v.Lsh(v, uint(digitBits)).Or(v, new(big.Int).SetUint64(digit))
	}
	if negative {
		v.Neg(v)
	}
	return v, bits, nil
}

// str writes a string as str.__repr__ does.
func (w *writer) str(object uint64) error {
	length, err := w.pointer(object, unicodeLength)
	if err != nil {
		return err
	}
	text, err := w.memory.text(object, mostText)
	if err != nil {
		return err
	}
	if length > mostText {
		text = strings.TrimSuffix(text, "…")
	}
	w.write(quoted(text))
	if length > mostText {
		w.write("...")
	}
	return nil
}

// quoted quotes a string as Python does.
func quoted(text string) string {
	quote := byte('\'')
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for i, c := range text {
		switch {
		case c == rune(quote) || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == unicode.ReplacementChar && text[i] >= 0x80 && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\udc%02x`, text[i]) // a byte of a name that is not UTF-8
		case c == ' ' || unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

func (w *writer) bytes(object uint64) error {
	n, err := w.sizeOf(object)
	if err != nil {
		return err
	}
	return w.raw(object+w.layout.at[bytesData], n)
}

func (w *writer) bytearray(object uint64) error {
	n, err := w.sizeOf(object)
	if err != nil {
		return err
	}
	at, err := w.pointer(object, bytearrayStart)
	if err != nil {
		return err
	}
	w.write("bytearray(")
	if err := w.raw(at, n); err != nil {
		return err
	}
	w.write(")")
	return nil
}

// raw writes n bytes as Python writes them.
func (w *writer) raw(addr uint64, n int64) error {
	if n < 0 {
		return fmt.Errorf("%d bytes", n)
	}
	room := make([]byte, min(n, mostText))
	if got, err := w.ReadMemory(addr, room); got < len(room) {
		return err
	}
	quote := byte('\'')
	if strings.Contains(string(room), "'") && !strings.Contains(string(room), `"`) {
		quote = '"'
	}
	b := []byte{'b', quote}
	for _, c := range room {
		switch {
		case c == quote || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c >= 0x7f:
			b = fmt.Appendf(b, `\x%02x`, c)
		default:
			b = append(b, c)
		}
	}
	w.write(string(append(b, quote)))
	if n > mostText {
		w.write("...")
	}
	return nil
}

// sequence writes a list or a tuple.
func (w *writer) sequence(object uint64, open, end string) error {
	items, n, err := w.items(object, mostItems)
	if err != nil {
		return err
	}
	w.write(open)
	for i, item := range items {
		if i > 0 {
			w.write(", ")
		}
		w.object(item)
	}
	switch {
	case n > int64(len(items)):
		w.write(", ...")
	case n == 1 && open == "(":
		w.write(",")
	}
	w.write(end)
	return nil
}

func (w *writer) dict(object uint64) error {
	w.write("{")
	n := 0
	err := w.each(object, func(key, value uint64) bool {
		if n > 0 {
			w.write(", ")
		}
		if n++; n > mostItems {
			w.write("...")
			return false
		}
		w.object(key)
		w.write(": ")
		w.object(value)
		return true
	})
	w.write("}")
	return err
}

// set writes a set (Objects/setobject.c): a table of keys with their hashes, in no order.
func (w *writer) set(object uint64, name string) error {
	used, err := w.pointer(object, setUsed)
	if err != nil {
		return err
	}
	mask, err := w.pointer(object, setMask)
	if err != nil {
		return err
	}
	table, err := w.pointer(object, setTable)
	if err != nil {
		return err
	}
	if used == 0 {
		w.write(name + "()")
		return nil
	}
	if used > mask+1 || mask >= 1<<40 {
		return fmt.Errorf("there is no set at %#x", object)
	}
	if name == "frozenset" {
		w.write("frozenset(")
	}
	w.write("{")
	n := uint64(0)
	for i := uint64(0); i <= min(mask, mostEntries) && n < min(used, mostItems); i++ {
		entry, err := w.words(table+i*uint64(2*w.size), 2)
		if err != nil {
			return err
		}
		if entry[0] == 0 {
			continue
		}
		if entry[1] == ^uint64(0) { // a key that was removed, whose hash is -1
			continue
		}
		if n > 0 {
			w.write(", ")
		}
		w.object(entry[0])
		n++
	}
	if n < used {
		w.write(", ...")
	}
	w.write("}")
	if name == "frozenset" {
		w.write(")")
	}
	return nil
}

// fields writes an object of a dataclass.
func (w *writer) fields(object uint64, c *class) error {
	w.write(short(c.qualified) + "(")
	n := 0
	for _, name := range c.fields {
		value, err := w.attribute(object, name)
		if err != nil {
			return err
		}
		if value == 0 {
			continue // in a slot, or not set yet
		}
		if n++; n > 1 {
			w.write(", ")
		}
		if n > mostItems {
			w.write("...")
			break
		}
		w.write(name + "=")
		w.object(value)
	}
	if n == 0 && len(c.fields) > 0 {
		return fmt.Errorf("the fields of %s are not in a dictionary", c.qualified)
	}
	w.write(")")
	return nil
}

// short is a class's qualified name without its module, as a dataclass writes it.
func short(qualified string) string {
	if i := strings.LastIndexByte(qualified, '.'); i >= 0 {
		return qualified[i+1:]
	}
	return qualified
}

func (w *writer) namedTuple(object uint64, c *class) error {
	items, n, err := w.items(object, mostItems)
	if err != nil {
		return err
	}
	if n != int64(len(c.fields)) {
		return w.of(c, "", func() error { return w.sequence(object, "(", ")") })
	}
	w.write(short(c.qualified) + "(")
	for i, item := range items {
		if i > 0 {
			w.write(", ")
		}
		w.write(c.fields[i] + "=")
		w.object(item)
	}
	if n > int64(len(items)) {
		w.write(", ...")
	}
	w.write(")")
	return nil
}

// member writes a member of an enumeration.
func (w *writer) member(object uint64, c *class) error {
	at, err := w.attribute(object, "_name_")
	if err != nil || at == 0 {
		return fmt.Errorf("a member of %s without a name: %w", c.qualified, err)
	}
	name, err := w.memory.text(at, maxName)
	if err != nil {
		return err
	}
	value, err := w.attribute(object, "_value_")
	if err != nil {
		return err
	}
	w.write("<" + short(c.qualified) + "." + name + ": ")
	w.object(value)
	w.write(">")
	return nil
}

func (w *writer) module(object uint64) error {
	dict, err := w.pointer(object, moduleDict)
	if err != nil {
		return err
	}
	at, err := w.lookUp(dict, "__name__")
	if err != nil {
		return err
	}
	name, err := w.memory.text(at, maxName)
	if err != nil {
		return err
	}
	w.write("<module " + quoted(name) + ">")
	return nil
}

func (w *writer) classObject(object uint64) error {
	c, err := w.class(object)
	if err != nil {
		return err
	}
	w.write("<class " + quoted(c.qualified) + ">")
	return nil
}

// exception writes an exception as BaseException.__repr__ does.
func (w *writer) exception(object uint64, c *class) error {
	args, err := w.pointer(object, exceptionArgs)
	if err != nil {
		return err
	}
	items, n, err := w.items(args, mostItems)
	if err != nil {
		return err
	}
	w.write(short(c.qualified) + "(")
	for i, item := range items {
		if i > 0 {
			w.write(", ")
		}
		w.object(item)
	}
	if n > int64(len(items)) {
		w.write(", ...")
	}
	w.write(")")
	return nil
}
