package breakpad

import (
	"errors"
	"io"
	"testing"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// hole is a file that has zeros behind its first bytes, terabytes of them.
type hole struct {
	begin string
	read  *int64
}

func (h hole) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(h.begin)) {
		copy(p, h.begin[at:])
	}
	*h.read += int64(len(p))
	return len(p), nil
}

// A symbol file that is a hole from somewhere on is refused, and says so. It is not read.
func TestHole(t *testing.T) {
	const size = 400 << 30
	for _, text := range []string{"", "MODULE Linux x86_64 1110 a", "MODULE Linux x86_64 1110 a\nFUNC 1 1 0 f\n"} {
		var read int64
		_, err := New(io.NewSectionReader(hole{text, &read}, 0, size), size)
		if text != "" && !errors.Is(err, elffile.ErrHole) || err == nil || read > 16<<20 {
			t.Errorf("New of %q: %v; %d bytes are read", text, err, read)
		}
		read = 0
		if _, err := SumOf(hole{text, &read}, size); !errors.Is(err, elffile.ErrHole) || read > 16<<20 {
			t.Errorf("SumOf of %q: %v; %d bytes are read", text, err, read)
		}
		read, err = 0, nil
		for _, err = range Records(io.NewSectionReader(hole{text, &read}, 0, size)) {
		}
		if !errors.Is(err, elffile.ErrHole) || read > 1<<20 {
			t.Errorf("Records of %q: %v; %d bytes are read", text, err, read)
		}
	}
}
