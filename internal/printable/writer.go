package printable

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer writes text of whole lines so that nothing in it steers a terminal. It is safe for
// concurrent use.
type Writer struct {
	out io.Writer

	mu     sync.Mutex
	colors bool
	text   []byte // the text of one call, behind the rest of the call before
	safe   []byte
}

// NewWriter returns a writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Out returns the writer that w writes to.
func (w *Writer) Out() io.Writer { return w.out }

// AllowColors leaves colours as they are from now on: the sequences ESC [ m and ESC [ N m, where N
// has one or two digits. The caller escapes the text between them.
func (w *Writer) AllowColors() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.colors = true
}

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.text) == 0 && plain(p, true) == len(p) {
		return w.out.Write(p)
	}
	w.text = append(w.text, p...)
	if err := w.flush(false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes the bytes that have waited for the rest of a character.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush(true)
}

// flush writes the text. Unless it is the end, flush keeps back bytes that may be a part of a
// character or of a colour.
func (w *Writer) flush(end bool) error {
	rest, safe := w.text, w.safe[:0]
	for {
		n := plain(rest, true)
		safe, rest = append(safe, rest[:n]...), rest[n:]
		if len(rest) == 0 {
			break
		}
		n, part := 0, rest[0] >= utf8.RuneSelf && !utf8.FullRune(rest)
		if w.colors && rest[0] == 0x1b {
			n, part = color(rest)
		}
		if part && !end {
			break
		}
		if n > 0 {
			safe = append(safe, rest[:n]...)
		} else {
			safe, n = escape(safe, string(rest[:min(len(rest), utf8.UTFMax)]))
		}
		rest = rest[n:]
	}
	w.text, w.safe = append(w.text[:0], rest...), safe
	if len(safe) == 0 {
		return nil
	}
	_, err := w.out.Write(safe)
	return err
}

// color returns the length of the colour at the beginning of text, 0 if there is none; part says
// that text may be the beginning of one.
func color(text []byte) (n int, part bool) {
	for n = 1; n < len(text) && n < 5; n++ {
		switch c := text[n]; {
		case n == 1 && c == '[', n > 1 && n < 4 && '0' <= c && c <= '9':
		case n > 1 && c == 'm':
			return n + 1, false
		default:
			return 0, false
		}
	}
	return 0, n == len(text)
}
