package printable

import (
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Escape returns text with escapes, so that it can be shown on one line.
func Escape(text string) string {
	if n := plain(text, false); n < len(text) {
		return string(Append(make([]byte, 0, len(text)+16), text))
	}
	return text
}

// Is reports whether text, of any number of lines, can be shown as it is.
func Is(text []byte) bool { return plain(text, true) == len(text) }

// Append appends Escape(text) to b.
func Append[T string | []byte](b []byte, text T) []byte {
	for {
		n := plain(text, false)
		b, text = append(b, text[:n]...), text[n:]
		if len(text) == 0 {
			return b
		}
		var size int
		b, size = escape(b, string(text[:min(len(text), utf8.UTFMax)]))
		text = text[size:]
	}
}

// ones has a one in each byte.
const ones = 0x0101010101010101

// plain returns how many bytes at the beginning of text can be shown as they are. layout allows
// newlines and tabs. Beyond ASCII, a character cannot be shown that Unicode has as a control, a
// format or a separator of lines, or does not know.
func plain[T string | []byte](text T, layout bool) int {
	for i := 0; i < len(text); {
		for ; i+8 <= len(text); i += 8 { // eight characters of ASCII at once
			t := text[i : i+8]
			x := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
				uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
			if others := ((x - ones*' ') | (x + ones) | x) & (ones << 7); others != 0 { // below the blank, or DEL, or above
				i += bits.TrailingZeros64(others) / 8
				break
			}
		}
		if i == len(text) {
			break
		}
		c := text[i]
		switch {
		case c-' ' < 0x7f-' ':
			i++
		case c == '\n' && layout, c == '\t' && layout:
			i++
		case c < utf8.RuneSelf:
			return i
		case c == 0xe2 && i+2 < len(text) && text[i+1] == 0x80 && 0x90 <= text[i+2] && text[i+2] < 0xa8:
			i += 3 // U+2010 to U+2027: punctuation, as the command's own …
		default:
			r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			if r == utf8.RuneError && size <= 1 || !unicode.IsGraphic(r) {
				return i
			}
			i += size
		}
	}
	return len(text)
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
