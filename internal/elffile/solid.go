package elffile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrHole says that a file has nothing but zeros where a table or text should be.
var ErrHole = errors.New("a hole")

// HoleSize is the length in bytes of a run of zeros that is taken for a hole. No table, no debug
// information and no list of names has as many.
const HoleSize = 128 << 10

const (
	piece = 8 * HoleSize // is read before it is checked for holes
	usual = 4 << 20      // is allocated at once if the first piece is no hole
)

// Solid returns a reader of r that ends at holes, with an error that wraps [ErrHole]. A file can
// have holes of gigabytes without a byte on disk, as memory that nobody has written to. Solid looks
// at the bytes: not every file system tells where its holes are, or how much room a file takes up.
// It finds no holes in reads shorter than [HoleSize].
func Solid(r io.ReaderAt) io.ReaderAt {
	if s, ok := r.(solid); ok {
		return s
	}
	return solid{r}
}

type solid struct{ r io.ReaderAt }

// ReadAt implements [io.ReaderAt].
func (s solid) ReadAt(p []byte, off int64) (n int, err error) {
	if len(p) < HoleSize {
		return s.r.ReadAt(p, off)
	}
	for n < len(p) && err == nil {
		part := p[n:min(len(p), n+piece)]
		var got int
		got, err = s.r.ReadAt(part, off+int64(n))
		for at := 0; at+HoleSize <= got; at += HoleSize {
			if zero(part[at : at+HoleSize]) {
				return n + at, fmt.Errorf("%d KiB of zeros from offset %#x on: %w", HoleSize>>10, off+int64(n+at), ErrHole)
			}
		}
		n += got
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// zero reports whether all of b is 0: the first byte is, and each byte equals the one before it.
func zero(b []byte) bool { return b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1]) }

// ReadPart reads n bytes at off. There may be fewer; those come with the error, and ReadPart
// allocates memory only as it finds bytes.
func ReadPart(r io.ReaderAt, off int64, n uint64) ([]byte, error) {
	return read(n, func(p []byte, at uint64) (int, error) { return r.ReadAt(p, off+int64(at)) })
}

// ReadNext is [ReadPart] for the next n bytes of a stream.
func ReadNext(r io.Reader, n uint64) ([]byte, error) {
	return read(n, func(p []byte, _ uint64) (int, error) { return io.ReadFull(r, p) })
}

func read(n uint64, next func(p []byte, at uint64) (int, error)) ([]byte, error) {
	data := make([]byte, min(n, HoleSize))
	for at := uint64(0); ; {
		got, err := next(data[at:], at)
		if at += uint64(got); at < uint64(len(data)) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return data[:at], err
		}
		if at == n {
			return data, nil
		}
		more := make([]byte, min(n, max(2*at, usual)))
		copy(more, data)
		data = more
	}
}
