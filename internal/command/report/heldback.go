package report

import (
	"bytes"
	"io"
)

// heldBack holds text back until a frame was selected: where none is, nothing is printed.
type heldBack struct {
	out      io.Writer
	selected func() int64
	before   int64 // what selected returned at the beginning
	headed   bool  // the heading is written: what follows is the first thread that is printed
	text     []byte
}

// Write implements [io.Writer].
func (h *heldBack) Write(b []byte) (n int, err error) {
	n = len(b)
	if h.headed && n > 0 { // threads before this one may have been left out, with the empty line between
		b, h.headed = bytes.TrimPrefix(b, []byte("\n")), false
	}
	if h.selected() == h.before {
		h.text = append(h.text, b...)
		return n, nil
	}
	if len(h.text) > 0 {
		b, h.text = append(h.text, b...), nil
	}
	if _, err = h.out.Write(b); err != nil {
		return 0, err
	}
	return n, nil
}
