package value

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// class is how the characters of a type are encoded and written.
type class struct {
	prefix string // before quotes: "", "L", "u8", "u", "U"
	size   int
	order  binary.ByteOrder
	utf16  bool
}

// textual reports whether values of a type are characters: GDB shows them as such.
func (w *Writer) textual(t *Type) bool {
	s := t.bare()
	if s.Kind == Char {
		return true
	}
	if s.Kind != Integer {
		return false
	}
	if s.Size == 1 {
		return !s.number
	}
	return wideName(t) != ""
}

// wideName returns the name of C's type of wide characters that t has, or is a typedef of.
func wideName(t *Type) string {
	for range maxNames {
		switch t.Name {
		case "wchar_t", "char16_t", "char32_t":
			return t.Name
		}
		switch t.Kind {
		case Typedef, Const, Volatile, Restrict, Atomic:
			t = t.Elem()
		default:
			return ""
		}
	}
	return ""
}

func (w *Writer) classOf(t *Type) class {
	s := t.Strip()
	c := class{size: int(s.Size), order: t.ByteOrder()}
	switch name := wideName(t); {
	case name == "wchar_t":
		c.prefix = "L"
	case name == "char16_t" || s.Kind == Char && s.Size == 2:
		c.prefix, c.utf16 = "u", true
	case name == "char32_t" || s.Kind == Char && s.Size == 4:
		c.prefix = "U"
	}
	return c
}

// element is a character, or bytes that are none.
type element struct {
	r    rune
	raw  []byte
	ok   bool
	n    int  // how often it follows itself
	part bool // the text ends within it
}

// next returns the first character of b.
func (c *class) next(b []byte) (e element) {
	switch c.size {
	case 1:
		if b[0] < utf8.RuneSelf {
			return element{r: rune(b[0]), raw: b[:1], ok: true}
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			if beginning(b) {
				return element{raw: b, part: true}
			}
			return element{raw: b[:1]}
		}
		return element{r: r, raw: b[:n], ok: true}
	case 2:
		u := rune(c.order.Uint16(b))
		if utf16.IsSurrogate(u) && c.utf16 {
			if len(b) >= 4 {
				if r := utf16.DecodeRune(u, rune(c.order.Uint16(b[2:]))); r != utf8.RuneError {
					return element{r: r, raw: b[:4], ok: true}
				}
			}
			const low = 0xdc00 // the first of the halves that come second
			return element{raw: b[:2], part: u < low && len(b) < 4}
		}
		return element{r: u, raw: b[:2], ok: true}
	case 4:
		u := c.order.Uint32(b)
		return element{r: rune(u), raw: b[:4], ok: u <= unicode.MaxRune && !utf16.IsSurrogate(rune(u))}
	}
	return element{raw: b[:c.size]}
}

// cut reports whether the text b ends within its first character.
func (c *class) cut(b []byte) bool {
	e := c.next(b)
	return e.part
}

// beginning reports whether b is the beginning of a character in UTF-8, as the C library's iconv
// has it: its leading bytes go up to 0xfd.
func beginning(b []byte) bool {
	n := 0
	switch lead := b[0]; {
	case lead >= 0xc2 && lead < 0xe0:
		n = 2
	case lead >= 0xe0 && lead < 0xf0:
		n = 3
	case lead >= 0xf0 && lead < 0xf8:
		n = 4
	case lead >= 0xf8 && lead < 0xfc:
		n = 5
	case lead == 0xfc, lead == 0xfd:
		n = 6
	}
	if len(b) >= n {
		return false
	}
	for _, x := range b[1:] {
		if x&0xc0 != 0x80 {
			return false
		}
	}
	return true
}

// same reports whether e and x are one character.
func (e *element) same(x *element) bool {
	return e.ok == x.ok && e.part == x.part && string(e.raw) == string(x.raw)
}

// Char writes a character in single quotes.
func (w *Writer) Char(v *Value) {
	b, err := v.Bytes()
	if err != nil {
		w.Absent(err)
		return
	}
	c := w.classOf(v.Type)
	w.Put(c.prefix)
	w.Put("'")
	e := c.next(b)
	if e.part {
		e = element{raw: b}
	}
	escaped := false
	w.spell(&c, &e, '\'', &escaped)
	w.Put("'")
}

// quoted writes a text in double quotes: 'x' <repeats 11 times> for many equal characters. more
// says that the text goes on.
func (w *Writer) quoted(b []byte, c class, more bool) {
	if len(b) == 0 {
		w.Put(c.prefix + `""`)
		if more {
			w.Put("...")
		}
		return
	}
	list := w.chars[:0]
	limit, count := w.p.elements(), 0
	plain := !w.p.UTF8 && c.size == 1 // each byte is a character of its own
	for len(b) >= c.size && count < limit {
		e := c.next(b)
		if plain && (!e.ok || len(e.raw) > 1) {
			e = element{raw: b[:1]}
		}
		e.n = 1
		b = b[len(e.raw):]
		for len(b) >= c.size && bytes.HasPrefix(b, e.raw) {
			if !e.ok && !plain { // these bytes may begin a character
				if x := c.next(b); !e.same(&x) {
					break
				}
			}
			b = b[len(e.raw):]
			e.n++
		}
		list = append(list, e)
		count += e.n
	}
	w.chars = list
	// GDB loses the character before one that is cut off.
	last := len(list) - 1
	if list[last].part {
		last--
	} else if len(b) < c.size || !w.p.UTF8 || !c.cut(b) {
		last = -1
	}
	if last >= 0 && list[last].ok {
		if list[last].n--; list[last].n == 0 {
			list = slices.Delete(list, last, last+1)
		}
	}
	w.Put(c.prefix)
	open, escaped := false, false
	for i := range list {
		e := &list[i]
		sep := func(quote bool) {
			if open && !quote {
				w.Put(`"`)
			}
			if i > 0 && (!quote || !open) {
				w.Put(", ")
			}
			if quote && !open {
				w.Put(`"`)
			}
			open = quote
		}
		switch {
		case e.part:
			sep(false)
			w.Put("<incomplete sequence ")
			w.spell(&c, e, '"', &escaped)
			w.Put(">")
		case e.n > w.p.repeats():
			sep(false)
			w.Put("'")
			w.spell(&c, e, '"', &escaped)
			w.Put("' <repeats ")
			w.number(int64(e.n))
			w.Put(" times>")
		default:
			sep(true)
			for range e.n {
				w.spell(&c, e, '"', &escaped)
			}
		}
	}
	if open {
		w.Put(`"`)
	}
	if more || len(b) >= c.size {
		w.Put("...")
	}
	clear(w.chars)
	w.chars = w.chars[:0]
}

// spell writes a character as C does. escaped says that an escape in hexadecimal came before: then
// its digits are escaped, too.
func (w *Writer) spell(c *class, e *element, quote byte, escaped *bool) {
	after := *escaped
	*escaped = false
	if e.ok {
		if e.r >= '\a' && e.r <= '\r' {
			const letters = "abtnvfr"
			w.Put(`\`)
			w.Put(letters[e.r-'\a' : e.r-'\a'+1])
			return
		}
		printable := e.r >= ' ' && e.r < 0x7f || w.p.UTF8 && e.r >= 0x80 && (unicode.IsPrint(e.r) || unicode.In(e.r, unicode.Zs, unicode.Co))
		if printable && !(after && strings.ContainsRune("0123456789abcdefABCDEF", e.r)) {
			if e.r == rune(quote) || e.r == '\\' {
				w.Put(`\`)
			}
			w.Put(string(e.r))
			return
		}
	}
	if c.size == 1 {
		w.octal(e.raw)
		return
	}
	for i := 0; i+c.size <= len(e.raw); i += c.size {
		n := number(e.raw[i:i+c.size], c.order == bigEndian)
		if n <= 0777 {
			w.octalNumber(n)
		} else {
			*escaped = true
			w.Put(`\x`)
			w.unsigned(n, 16)
		}
	}
}

func (w *Writer) octal(raw []byte) {
	for _, x := range raw {
		w.octalNumber(uint64(x))
	}
}

// octalNumber writes a number of at most three digits.
func (w *Writer) octalNumber(n uint64) {
	b := [...]byte{'\\', byte('0' + n>>6), byte('0' + n>>3&7), byte('0' + n&7)}
	w.Put(string(b[:]))
}
