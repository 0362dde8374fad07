package v8

import (
	"strings"
	"unicode/utf16"
)

// Representations of strings, by the low bits of their type, and the bit of strings that have a
// byte for a character.
const (
	representation = 7
	sequence       = 0
	concatenation  = 1
	external       = 2
	slice          = 3
	thin           = 5
	oneByte        = 8
)

// Bounds of strings: of names in characters, and of the parts that one is made of.
const (
	mostName  = 1 << 10
	mostParts = 1 << 14
)

// length returns how many characters a string has.
func (h *heap) length(v uint64) int {
	if !h.isString(v) {
		return 0
	}
	return max(0, int(int32(h.Uint(v-1+h.stringLength, 4))))
}

// part is a part of a string: n characters from one on.
type part struct {
	string  uint64
	from, n int
}

// characters hands out n characters of a string, some at a time: size bytes each. It ends if do
// returns false.
func (h *heap) characters(v uint64, n int, do func(p []byte, size int) bool) {
	var room [1 << 10]byte
	left := []part{{v, 0, n}}
	for parts := 0; len(left) > 0 && parts < mostParts && h.spend(64); parts++ {
		p := left[len(left)-1]
		left = left[:len(left)-1]
		t, ok := h.typeOf(p.string)
		length := h.length(p.string)
		if !ok || t >= h.types.notString || p.from < 0 {
			return
		}
		if p.n = min(p.n, length-p.from); p.n <= 0 {
			continue
		}
		at := p.string - 1 + h.chars
		switch t & representation {
		case concatenation:
			first := h.field(p.string, h.consFirst)
			m := h.length(first)
			if p.from+p.n > m {
				left = append(left, part{h.field(p.string, h.consSecond), max(0, p.from-m), p.from + p.n - max(m, p.from)})
			}
			if p.from < m {
				left = append(left, part{first, p.from, min(p.n, m-p.from)})
			}
			continue
		case slice:
			left = append(left, part{h.field(p.string, h.slicedParent), p.from + h.small(p.string, h.slicedOffset), p.n})
			continue
		case thin:
			left = append(left, part{h.field(p.string, h.thinActual), p.from, p.n})
			continue
		case external:
			at = h.external(p.string)
		case sequence:
		default:
			h.Fail("there is no string at %#x", p.string-1)
			return
		}
		size := 2
		if t&oneByte != 0 {
			size = 1
		}
		at += uint64(p.from * size)
		for p.n > 0 {
			b := room[:min(p.n*size, len(room))]
			if !h.spend(len(b)) || !h.Bytes(at, b) || !do(b, size) {
				return
			}
			at, p.n = at+uint64(len(b)), p.n-len(b)/size
		}
	}
}

// text returns a string, at most its first mostName characters; "" if it is none.
func (h *heap) text(v uint64) string {
	var b strings.Builder
	var units []uint16
	flush := func() {
		for _, r := range utf16.Decode(units) {
			b.WriteRune(r)
		}
		units = units[:0]
	}
	h.characters(v, mostName, func(p []byte, size int) bool {
		if size == 1 { // Latin-1
			flush()
			for _, c := range p {
				b.WriteRune(rune(c))
			}
			return true
		}
		for i := 0; i < len(p); i += 2 {
			units = append(units, h.Arch.Order.Uint16(p[i:]))
		}
		return true
	})
	flush()
	return b.String()
}
