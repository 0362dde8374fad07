package lastwords

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The functions of Rust's library that begin a panic: two that make a struct PanicInfo, and one for
// messages that are no format.
const (
	rustFormat    = "core::panicking::panic_fmt"
	rustNoUnwind  = "core::panicking::panic_nounwind_fmt"
	rustPanicWith = "std::panicking::begin_panic"
)

// isRustPanic reports whether a function begins a panic of Rust.
func isRustPanic(function string) bool {
	if function == rustFormat || function == rustNoUnwind {
		return true
	}
	rest, ok := strings.CutPrefix(function, rustPanicWith)
	return ok && (rest == "" || strings.HasPrefix(rest, "<") || strings.HasPrefix(rest, "::h"))
}

// ofRust returns the words of the innermost panic of Rust: the place and the message, as std's
// default hook writes them.
func (f *finder) ofRust() []Words {
	for i := range f.Frames {
		for _, function := range f.Frames[i].Functions {
			if !isRustPanic(function) {
				continue
			}
			if text, ok := f.rustPanic(&f.Frames[i], strings.HasPrefix(function, rustPanicWith)); ok {
				return []Words{{Text: text, From: "the panic of Rust's std"}}
			}
			return nil
		}
	}
	return nil
}

// stackWords are words of a stack from an address on.
type stackWords struct {
	lo   uint64
	list []uint64
	data []byte
}

// stackOf reads the words of [lo, hi), at most mostStack bytes.
func (f *finder) stackOf(lo, hi uint64) (s stackWords) {
	if lo == 0 || hi <= lo {
		return s
	}
	s.lo = lo
	s.data = f.part(lo, int(min(hi-lo, mostStack)))
	for at := 0; at+f.arch.PtrSize <= len(s.data); at += f.arch.PtrSize {
		s.list = append(s.list, f.arch.Word(s.data[at:]))
	}
	return s
}

// rustPanic returns the place and the message of the panic that a function begins, whose frame is
// x.
func (f *finder) rustPanic(x *Frame, plain bool) (string, bool) {
	if x.Registers == nil || f.Frames[0].Registers == nil {
		return "", false
	}
	sp, ok := x.Registers.Get(f.arch.SP)
	inner, also := f.Frames[0].Registers.Get(f.arch.SP)
	if !ok || !also {
		return "", false
	}
	own := f.stackOf(sp, x.CFA)
	if plain {
		return f.rustPlain(own.list)
	}
	place, arguments, found := "", uint64(0), false
	flags := 2 * f.arch.PtrSize
	for i := 0; i+2 < len(own.list); i++ {
		message := own.list[i]
		if message < sp || message > sp+mostStack {
			continue
		}
		bools := own.data[i*f.arch.PtrSize+flags:]
		if bools[0] > 1 || bools[1] > 1 {
			continue
		}
		where, ok := f.location(own.list[i+1])
		if !ok {
			continue
		}
		if found && (where != place || message != arguments) {
			return "", false
		}
		place, arguments, found = where, message, true
	}
	if !found {
		return "", false
	}
	text, ok := f.rustString(f.stackOf(inner, sp).list, arguments)
	if !ok {
		text, ok = f.rustConstant(arguments)
	}
	if !ok {
		return "panicked at " + place, true
	}
	return "panicked at " + place + ":\n" + text, true
}

// rustString finds the message of a panic once it has been written to a String: a struct
// FormatStringPayload on the stack has the String, and a pointer to the arguments of the format, or
// to a pointer to them.
func (f *finder) rustString(list []uint64, arguments uint64) (text string, ok bool) {
	for i := 0; i+3 < len(list); i++ {
		leads := func(p uint64) bool {
			if p == arguments {
				return true
			}
			at, ok := f.word(p)
			return ok && at == arguments
		}
		for _, three := range [][]uint64{list[i : i+3], list[i+1 : i+4]} {
			other := list[i+3]
			if &three[0] == &list[i+1] {
				other = list[i]
			}
			for _, c := range [][3]uint64{{three[0], three[1], three[2]}, {three[1], three[0], three[2]}} { // capacity, pointer, length
				if c[2] == 0 || c[2] > c[0] || c[0] > mostRead || !leads(other) {
					continue
				}
				found, valid := f.utf8(c[1], c[2])
				if !valid {
					continue
				}
				if ok && found != text {
					return "", false
				}
				text, ok = found, true
			}
		}
	}
	return text, ok
}

// rustConstant returns the message of a panic whose format has no arguments: since Rust 1.92 a
// struct Arguments has the text and, in the other word, twice the length and 1; until then, the
// address of an array with one text.
func (f *finder) rustConstant(arguments uint64) (string, bool) {
	words := f.stackOf(arguments, arguments+6*uint64(f.arch.PtrSize)).list
	if len(words) < 6 {
		return "", false
	}
	if words[1]&1 == 1 && words[1]>>1 <= maxText && f.constant(words[0]) {
		if text, ok := f.utf8(words[0], words[1]>>1); ok {
			return text, true
		}
	}
	// Three pairs in any order: the texts, the arguments, and how to format these, of which there
	// is nothing.
	for i := 0; i < 6; i += 2 {
		none, empty := false, false
		for j := 0; j < 6; j += 2 {
			if j != i {
				none = none || words[j] == 0
				empty = empty || words[j] != 0 && words[j+1] == 0
			}
		}
		if words[i+1] != 1 || !none || !empty {
			continue
		}
		p, ok := f.word(words[i])
		n, also := f.word(words[i] + uint64(f.arch.PtrSize))
		if ok && also && f.constant(p) {
			return f.utf8(p, n)
		}
	}
	return "", false
}

// rustPlain returns the place and the message of a panic with a text that is no format: a closure
// has the text, and the place.
func (f *finder) rustPlain(list []uint64) (said string, ok bool) {
	for i := 0; i+2 < len(list); i++ {
		for _, c := range [][3]uint64{{list[i], list[i+1], list[i+2]}, {list[i+1], list[i+2], list[i]}} { // text, length, place
			place, located := f.location(c[2])
			if !located || c[1] > maxText || !f.constant(c[0]) {
				continue
			}
			text, valid := f.utf8(c[0], c[1])
			if !valid {
				continue
			}
			if now := "panicked at " + place + ":\n" + text; !ok || now == said {
				said, ok = now, true
			} else {
				return "", false
			}
		}
	}
	return said, ok
}

// Bounds of a place in the source.
const (
	longestPath = 1 << 10
	mostLines   = 1 << 26
	mostColumns = 1 << 20
)

// location reads a struct core::panic::Location: a file, which may end with a zero, a line and a
// column. It is among a module's constants.
func (f *finder) location(at uint64) (string, bool) {
	size := uint64(f.arch.PtrSize)
	if at%size != 0 || !f.constant(at) {
		return "", false
	}
	p, ok := f.word(at)
	n, also := f.word(at + size)
	if !ok || !also || n == 0 || n > longestPath || !f.constant(p) {
		return "", false
	}
	line, ok := f.half(at + 2*size)
	column, also := f.half(at + 2*size + 4)
	if !ok || !also || line == 0 || line > mostLines || column == 0 || column > mostColumns {
		return "", false
	}
	path, ok := f.utf8(p, n)
	path = strings.TrimSuffix(path, "\x00")
	if !ok || !strings.HasSuffix(path, ".rs") || strings.ContainsAny(path, "\x00\n") {
		return "", false
	}
	return fmt.Sprintf("%s:%d:%d", path, line, column), true
}

// constant reports whether an address is in what a file has, in a module of the process.
func (f *finder) constant(at uint64) bool {
	return at != 0 && f.Target.Modules().Find(at) != nil
}

// utf8 reads a text of a length. It is cut behind maxText bytes.
func (f *finder) utf8(at, n uint64) (string, bool) {
	if n == 0 {
		return "", false
	}
	data := f.bytes(at, int(min(n, maxText)))
	if data == nil {
		return "", false
	}
	if n > maxText {
		for len(data) > 0 && !utf8.RuneStart(data[len(data)-1]) {
			data = data[:len(data)-1]
		}
		if len(data) > 0 && data[len(data)-1] >= utf8.RuneSelf {
			data = data[:len(data)-1]
		}
		return string(data) + "…", utf8.Valid(data)
	}
	return string(data), utf8.Valid(data)
}
