package procmaps

import (
	"bytes"
	"io"
)

// Last reads the list of one process again and again. A list that is as it was the last time is not
// parsed once more. It is not safe for concurrent use. The zero Last has read nothing.
type Last struct {
	text, room []byte
	maps       []Mapping
}

// maxKept bounds the list that is kept, bytes: it has some thousands of mappings.
const maxKept = 256 << 10

// Read is like [Read]. The caller must not change the mappings: the next Read may return them, too.
func (l *Last) Read(r io.Reader, warn func(format string, args ...any)) (maps []Mapping, err error) {
	for text := l.room[:0]; ; {
		if len(text) == cap(text) {
			text = append(make([]byte, 0, max(4<<10, 2*cap(text))), text...)
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if l.room = text; err == io.EOF {
			break
		}
		if err != nil || len(text) > maxKept {
			*l = Last{}
			if err != nil { // Read says what is wrong
				r = failed{err}
			}
			return Read(io.MultiReader(bytes.NewReader(text), r), warn)
		}
	}
	if l.maps != nil && bytes.Equal(l.room, l.text) {
		return l.maps, nil
	}
	warned := false
	maps, err = Read(bytes.NewReader(l.room), func(format string, args ...any) {
		if warned = true; warn != nil {
			warn(format, args...)
		}
	})
	if l.maps = nil; err == nil && !warned {
		l.maps, l.text, l.room = maps, l.room, l.text
	}
	return maps, err
}

// failed is a reader that has failed.
type failed struct{ err error }

// Read implements [io.Reader].
func (f failed) Read([]byte) (int, error) { return 0, f.err }
