package printable

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Fprintf is [fmt.Fprintf] with its arguments escaped: only the format can have newlines. An error
// that joins several has one line for each.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return fmt.Fprintf(w, format, wrap(args)...)
}

// Appendf is [fmt.Appendf], in the same way.
func Appendf(b []byte, format string, args ...any) []byte {
	return fmt.Appendf(b, format, wrap(args)...)
}

// wrap makes arguments escape their text.
func wrap(args []any) []any {
	safe := make([]any, len(args))
	for i, a := range args {
		switch a.(type) {
		case int, int64, uint64, uint8, uint16, uint32, uintptr, float64, bool:
			safe[i] = a
		default:
			safe[i] = shown{a}
		}
	}
	return safe
}

// shown is an argument whose text may have anything in it.
type shown struct{ arg any }

// Format implements [fmt.Formatter].
func (s shown) Format(f fmt.State, verb rune) {
	if err, ok := s.arg.(error); ok && (verb == 'v' || verb == 's') {
		io.WriteString(f, lines(err))
		return
	}
	io.WriteString(f, Escape(fmt.Sprintf(fmt.FormatString(f, verb), s.arg)))
}

// lines returns the text of an error, escaped but for the newlines of [errors.Join].
func lines(err error) string {
	text := err.Error()
	if !strings.Contains(text, "\n") {
		return Escape(text)
	}
	var wrapped []error
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		wrapped = []error{err.Unwrap()}
	case interface{ Unwrap() []error }:
		wrapped = err.Unwrap()
	}
	all := errors.Join(wrapped...)
	joined := all != nil && text == all.Error()
	var b strings.Builder
	for i, w := range wrapped {
		if w == nil {
			break
		}
		before, after, found := strings.Cut(text, w.Error())
		if !found {
			break
		}
		if joined && i > 0 {
			b.WriteByte('\n')
		} else {
			b.WriteString(Escape(before))
		}
		b.WriteString(lines(w))
		text = after
	}
	b.WriteString(Escape(text))
	return b.String()
}
