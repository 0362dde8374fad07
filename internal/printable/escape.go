package printable

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Escape returns text fit to be shown on one line.
func Escape(text string) string {
	if n := plain(text, false); n < len(text) {
		return string(Append(make([]byte, 0, len(text)+16), text))
	}
	return text
}

// Append appends text, fit to be shown on one line, to b.
func Append(b []byte, text string) []byte {
	for {
		n := plain(text, false)
		b, text = append(b, text[:n]...), text[n:]
		if text == "" {
			return b
		}
		var size int
		b, size = escape(b, text)
		text = text[size:]
	}
}

// plain returns how much of text, from its beginning on, can be shown as it is. layout allows
// newlines and tabs.
func plain[T string | []byte](text T, layout bool) int {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case ' ' <= c && c < 0x7f, layout && (c == '\n' || c == '\t'):
			i++
		case c < utf8.RuneSelf:
			return i
		default:
			r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			if r == utf8.RuneError && size <= 1 || !visible(r) {
				return i
			}
			i += size
		}
	}
	return len(text)
}

// visible reports whether a character beyond ASCII can be shown as it is: not where Unicode has
// it as a control, a format or an unknown one, or a separator of lines.
func visible(r rune) bool {
	if 0x2010 <= r && r < 0x2028 { // punctuation, as the command's own
		return true
	}
	return unicode.IsGraphic(r)
}

// escape appends the escape of the first character of text, which is size bytes long.
func escape(b []byte, text string) (to []byte, size int) {
	switch text[0] {
	case '\n':
		return append(b, `\n`...), 1
	case '\t':
		return append(b, `\t`...), 1
	case '\r':
		return append(b, `\r`...), 1
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r < ' ' || r == utf8.RuneError && size <= 1:
		return fmt.Appendf(b, `\x%02x`, text[0]), 1
	case r > 0xffff: // as JSON has it
		r -= 0x10000
		return fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff), size
	}
	return fmt.Appendf(b, `\u%04x`, r), size
}
