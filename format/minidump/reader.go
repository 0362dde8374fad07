package minidump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// Location is a part of the file (MINIDUMP_LOCATION_DESCRIPTOR).
type Location struct {
	Size   uint64 // bytes
	Offset uint64 // in the file (an RVA)
}

// reader reads parts of a dump.
type reader struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	left  int // bytes that may still be read: parts may overlap, and the file may be sparse

	// hole says that the last part that was read ends early, for a hole begins there: a list may
	// claim to be one. A hole of an earlier part stays in holes.
	hole, holes error

	texts    map[textAt]readText
	textLeft int // bytes of texts that may still be referred to
}

// Bounds of what is kept of a dump. Real dumps have some thousand modules and threads at most.
const (
	maxRead   = 96 << 20 // bytes of all parts together
	maxStream = 32 << 20 // of one stream
	maxString = 64 << 10 // of one string, in the file
	maxTexts  = 4 << 20  // of all texts, as often as records refer to them: all are printed
)

var (
	errCut  = errors.New("it is not in the file: is the dump cut short?")
	errMuch = errors.New("the dump refers to more than 96 MiB")
	// errTexts costs the texts that do not fit, and not shorter ones behind them.
	errTexts = errors.New("the dump's records refer to more than 4 MiB of text together: some of it is left out")
)

// at returns a part of the file, which the caller does not change, as far as it is no hole.
func (r *reader) at(l Location) ([]byte, error) {
	r.hole = nil
	if l.Offset > uint64(r.size) || l.Size > uint64(r.size)-l.Offset {
		return nil, fmt.Errorf("%d bytes at offset %#x: %w", l.Size, l.Offset, errCut)
	}
	if l.Size > maxStream {
		return nil, fmt.Errorf("%d bytes at offset %#x: more than %d", l.Size, l.Offset, maxStream)
	}
	if r.left -= int(l.Size); r.left < 0 {
		return nil, errMuch
	}
	if w, ok := r.r.(whole); ok {
		return w.Lend(l.Offset, l.Size), nil
	}
	b := make([]byte, l.Size)
	n, err := elffile.Solid(r.r).ReadAt(b, int64(l.Offset))
	switch {
	case n < len(b) && errors.Is(err, elffile.ErrHole):
		r.hole, r.holes = err, err
		return b[:n], nil
	case n < len(b):
		return nil, fmt.Errorf("%d bytes at offset %#x: %w", l.Size, l.Offset, err)
	}
	return b, nil
}

// location returns the Location that is at the beginning of b.
func (r *reader) location(b []byte) Location {
	return Location{uint64(r.order.Uint32(b)), uint64(r.order.Uint32(b[4:]))}
}

// textAt is where a text is. A kind is a form that it has.
type textAt struct {
	kind byte
	Location
}

// The kinds of texts.
const (
	utf16Counted = iota // MINIDUMP_STRING
	utf8Counted         // MinidumpUTF8String
	debugMisc           // IMAGE_DEBUG_MISC
)

// readText is a text, or why there is none.
type readText struct {
	text string
	err  error
}

// once returns the text that read reads at a place. Many records may refer to one text: it is read
// once, and they share it.
func (r *reader) once(at textAt, read func() (string, error)) (string, error) {
	t, ok := r.texts[at]
	if !ok {
		t.text, t.err = read()
		if r.texts == nil {
			r.texts = make(map[textAt]readText)
		}
	}
	if t.err == nil {
		if t.err = r.refer(t.text); t.err != nil {
			t.text = ""
		}
	}
	r.texts[at] = t
	return t.text, t.err
}

// refer counts a text to which a record refers.
func (r *reader) refer(text string) error {
	if len(text) > r.textLeft {
		return errTexts
	}
	r.textLeft -= len(text)
	return nil
}

// text returns the string (MINIDUMP_STRING: UTF-16 behind its length in bytes) at an offset; "" if
// that is 0.
func (r *reader) text(offset uint64) (string, error) {
	if offset == 0 {
		return "", nil
	}
	return r.once(textAt{utf16Counted, Location{Offset: offset}}, func() (string, error) {
		b, err := r.counted(offset)
		return r.utf16(b), err
	})
}

// counted returns the bytes behind their number (MINIDUMP_STRING, MinidumpUTF8String), which is at
// an offset.
func (r *reader) counted(offset uint64) ([]byte, error) {
	b, err := r.at(Location{4, offset})
	if err != nil {
		return nil, err
	}
	n := uint64(r.order.Uint32(b))
	if n > maxString {
		return nil, fmt.Errorf("string at offset %#x: %d bytes: more than %d", offset, n, maxString)
	}
	return r.at(Location{n, offset + 4})
}

// utf8 returns the string (MinidumpUTF8String) at an offset; "" if that is 0.
func (r *reader) utf8(offset uint64) (string, error) {
	if offset == 0 {
		return "", nil
	}
	return r.once(textAt{utf8Counted, Location{Offset: offset}}, func() (string, error) {
		b, err := r.counted(offset)
		return string(b), err
	})
}

// utf16 returns the UTF-16 of b up to the first zero.
func (r *reader) utf16(b []byte) string {
	words := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		w := r.order.Uint16(b)
		if w == 0 {
			break
		}
		words = append(words, w)
	}
	return string(utf16.Decode(words))
}

// list returns the entries of a list: 4 bytes with their number, perhaps 4 bytes of padding, and
// that many entries of size bytes.
func (r *reader) list(l Location, size int) ([]byte, error) {
	b, err := r.at(l)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, errShort
	}
	n, rest := uint64(r.order.Uint32(b)), b[4:]
	if r.hole != nil {
		n = min(n, uint64(len(rest)/size))
	}
	switch want := n * uint64(size); {
	case uint64(len(rest)) == want+4:
		return rest[4:], nil
	case uint64(len(rest)) >= want:
		return rest[:want], nil
	}
	return nil, fmt.Errorf("%d entries of %d bytes do not fit into %d", n, size, len(rest))
}

// entries returns how many of a list's n entries of size bytes are in b. ok is false if not all
// are, and no hole is the reason.
func (r *reader) entries(n, size uint64, b []byte) (there uint64, ok bool) {
	room := uint64(len(b)) / size
	return min(n, room), n <= room || r.hole != nil
}

var errShort = errors.New("it is too short")
