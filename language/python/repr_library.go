package python

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Objects of modules that come with Python and are written in C have layouts that no header tells.
// The ones here have been the same since 3.8. Numbers are of the object's words behind its head.

var errOther = errors.New("it is not laid out as expected")

// library writes an object of a type of the standard library, or of numpy. ok is false if the type
// is none of these.
func (w *writer) library(object uint64, c *class, name string) (ok bool, err error) {
	if len(c.slots) > 0 { // a module of Python's that stands in for the one of C
		return false, nil
	}
	switch name {
	case "decimal.Decimal":
		err = w.decimal(object)
	case "datetime.date", "datetime.datetime", "datetime.time":
		err = w.date(object, name)
	case "datetime.timedelta":
		err = w.timedelta(object)
	case "datetime.timezone":
		err = w.timezone(object)
	case "collections.deque":
		err = w.deque(object)
	case "range":
		err = w.rangeOf(object)
	case "numpy.ndarray":
		err = w.array(object)
	default:
		if !strings.HasPrefix(name, "numpy.") {
			return false, nil
		}
		return w.scalar(object, name)
	}
	return true, err
}

// decimal writes a Decimal: behind its hash it has a number of libmpdec (mpd_t), whose digits are
// words to the base 10^19, or 10^9 on 32-bit processors.
func (w *writer) decimal(object uint64) error {
	const negative, infinite, quiet, signaling = 1, 2, 4, 8
	words, err := w.words(object+w.head(), 7) // hash, flags, exponent, digits, length, room, data
	if err != nil {
		return err
	}
	flags, length := words[1]&0xff, words[4]
	sign := ""
	if flags&negative != 0 {
		sign = "-"
	}
	const most = 64
	if length > most || length > words[5] {
		return errOther
	}
	parts, err := w.words(words[6], int(length))
	if err != nil {
		return err
	}
	per := 19
	if w.size == 4 {
		per = 9
	}
	digits := ""
	for i, p := range parts {
		text := strconv.FormatUint(p, 10)
		if i < len(parts)-1 {
			text = fmt.Sprintf("%0*d", per, p)
		}
		digits = text + digits
	}
	exponent := int64(words[2])
	if w.size == 4 {
		exponent = int64(int32(words[2]))
	}
	text := ""
	switch {
	case flags&infinite != 0:
		text = "Infinity"
	case flags&(quiet|signaling) != 0:
		if text = "NaN"; flags&signaling != 0 {
			text = "sNaN"
		}
		text += digits
	case digits == "" || uint64(len(digits)) != words[3]:
		return errOther
	default:
		text = decimalText(digits, exponent)
	}
	w.write("Decimal('" + sign + text + "')")
	return nil
}

// decimalText writes a number as the General Decimal Arithmetic Specification has it
// ("to-scientific-string").
func decimalText(digits string, exponent int64) string {
	n := int64(len(digits))
	point := n + exponent
	switch {
	case exponent > 0 || point <= -6:
		text := digits[:1]
		if n > 1 {
			text += "." + digits[1:]
		}
		return text + fmt.Sprintf("E%+d", point-1)
	case exponent == 0:
		return digits
	case point > 0:
		return digits[:point] + "." + digits[point:]
	}
	return "0." + strings.Repeat("0", int(-point)) + digits
}

// date writes a date, a time, or both: behind the hash follow a byte that says whether there is a
// time zone, the fields as bytes, whether the time is the second of two, and the time zone.
func (w *writer) date(object uint64, name string) error {
	at := object + w.head() + uint64(w.size)
	var raw [12]byte
	if n, err := w.ReadMemory(at, raw[:]); n < len(raw) && name != "datetime.date" || n < 5 {
		return err
	}
	var fields []int
	b := raw[1:]
	if name != "datetime.time" {
		fields = append(fields, int(b[0])<<8|int(b[1]), int(b[2]), int(b[3]))
		b = b[4:]
	}
	fold, end := false, uint64(0)
	if name != "datetime.date" {
		fields = append(fields, int(b[0]), int(b[1]))
		second, micro := int(b[2]), int(b[3])<<16|int(b[4])<<8|int(b[5])
		if second != 0 || micro != 0 {
			fields = append(fields, second)
		}
		if micro != 0 {
			fields = append(fields, micro)
		}
		fold = b[6] != 0
		end = uint64(len(raw) - len(b) + 7)
	}
	var list []string
	for _, n := range fields {
		list = append(list, strconv.Itoa(n))
	}
	first := fold && name == "datetime.datetime" // of a time, it is the last
	if first {
		list = append(list, "fold=1")
	}
	w.write(name + "(" + strings.Join(list, ", "))
	if name != "datetime.date" && raw[0] != 0 {
		size := uint64(w.size)
		zone, err := w.word((at + end + size - 1) / size * size)
		if err != nil {
			return err
		}
		w.write(", tzinfo=")
		w.object(zone)
	}
	if fold && !first {
		w.write(", fold=1")
	}
	w.write(")")
	return nil
}

func (w *writer) timedelta(object uint64) error {
	at := object + w.head() + uint64(w.size)
	var list []string
	for i, name := range []string{"days", "seconds", "microseconds"} {
		n, err := w.int32(at + 4*uint64(i))
		if err != nil {
			return err
		}
		if n != 0 {
			list = append(list, fmt.Sprintf("%s=%d", name, n))
		}
	}
	if list == nil {
		list = []string{"0"}
	}
	w.write("datetime.timedelta(" + strings.Join(list, ", ") + ")")
	return nil
}

// timezone writes a time zone: its distance, a timedelta, and its name.
func (w *writer) timezone(object uint64) error {
	words, err := w.words(object+w.head(), 2)
	if err != nil {
		return err
	}
	days, err := w.word(words[0] + w.head() + uint64(w.size))
	if err != nil {
		return err
	}
	seconds, err := w.int32(words[0] + w.head() + uint64(w.size) + 4)
	if err != nil {
		return err
	}
	if words[1] == 0 && uint32(days) == 0 && seconds == 0 {
		w.write("datetime.timezone.utc")
		return nil
	}
	w.write("datetime.timezone(")
	w.object(words[0])
	if words[1] != 0 {
		w.write(", ")
		w.object(words[1])
	}
	w.write(")")
	return nil
}

// deque writes a deque: blocks of 64 items, each with links to the one before and the next one.
func (w *writer) deque(object uint64) error {
	const inBlock = 64
	n, err := w.sizeOf(object)
	if err != nil || n < 0 {
		return errOther
	}
	size := uint64(w.size)
	words, err := w.words(object+w.layout.at[varSize]+size, 6) // first and last block, index in both, state, most
	if err != nil {
		return err
	}
	block, index := words[0], words[2]
	w.write("deque([")
	for i := range min(n, mostItems) {
		if i > 0 {
			w.write(", ")
		}
		if index >= inBlock {
			if block, err = w.word(block + (1+inBlock)*size); err != nil {
				return err
			}
			index = 0
		}
		item, err := w.word(block + (1+index)*size)
		if err != nil {
			return err
		}
		w.object(item)
		index++
	}
	if n > mostItems {
		w.write(", ...")
	}
	w.write("]")
	most := int64(words[5])
	if w.size == 4 {
		most = int64(int32(words[5]))
	}
	if most >= 0 {
		w.write(fmt.Sprintf(", maxlen=%d", most))
	}
	w.write(")")
	return nil
}

// rangeOf writes a range: first, end, step.
func (w *writer) rangeOf(object uint64) error {
	words, err := w.words(object+w.head(), 3)
	if err != nil {
		return err
	}
	w.write("range(")
	w.object(words[0])
	w.write(", ")
	w.object(words[1])
	if step, _, err := w.integer(words[2]); err != nil || step == nil || !step.IsInt64() || step.Int64() != 1 {
		w.write(", ")
		w.object(words[2])
	}
	w.write(")")
	return nil
}
