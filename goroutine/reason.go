package goroutine

import "unicode/utf8"

// Bounds of the texts of wait reasons.
const (
	leastReasons = 16 // in all releases there are more
	maxReason    = 100
)

// hasReasons reports whether the runtime's array of texts is at an address: its first text is
// empty, the others are not.
func (r *Runtime) hasReasons(at uint64) bool {
	for i := range leastReasons {
		text, ok := r.reason(at, uint8(i))
		if !ok || (text == "") != (i == 0) {
			return false
		}
	}
	return true
}

// reason returns the text with the given number in the array at an address. ok is false if it is no
// text.
func (r *Runtime) reason(at uint64, number uint8) (text string, ok bool) {
	mem := r.t.Memory()
	var header [16]byte
	if n, _ := mem.ReadMemory(at+16*uint64(number), header[:]); n < len(header) {
		return "", false
	}
	h := words{at, header[:], r.arch.Order}
	ptr, size := h.word(0), h.word(8)
	if size == 0 {
		return "", true
	}
	var data [maxReason]byte
	if size > maxReason {
		return "", false
	}
	if n, _ := mem.ReadMemory(ptr, data[:size]); n < int(size) {
		return "", false
	}
	text = string(data[:size])
	if !utf8.ValidString(text) {
		return "", false
	}
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			return "", false
		}
	}
	return text, true
}
