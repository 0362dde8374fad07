package python

import (
	"fmt"
	"strings"
	"unicode"
)

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
