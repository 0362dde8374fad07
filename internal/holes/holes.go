// Package holes writes files that take up no room for zeros: cores and what processes have mapped
// are full of them.
package holes

import (
	"bytes"
	"io"
)

// block is the unit of holes, bytes: that of most file systems.
const block = 4096

// File is what a [Writer] writes to: an [os.File], from its beginning on, that has nothing yet.
type File interface {
	io.WriterAt
	Truncate(size int64) error
}

// Writer writes to a file what is not zero, and leaves holes for the rest.
type Writer struct {
	file File
	size int64
}

// NewWriter returns a writer to an empty file. The caller closes both.
func NewWriter(file File) *Writer { return &Writer{file: file} }

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		rest := p[n:]
		if zeros := w.run(rest, true); zeros > 0 {
			n += zeros
			w.size += int64(zeros)
			continue
		}
		var wrote int
		wrote, err = w.file.WriteAt(rest[:w.run(rest, false)], w.size)
		n += wrote
		w.size += int64(wrote)
	}
	return n, err
}

// run returns how many bytes p begins with that are in blocks of the file that are all zero, or
// that are not, as far as p has them.
func (w *Writer) run(p []byte, zero bool) (n int) {
	for n < len(p) {
		end := min(n+block-int((w.size+int64(n))%block), len(p))
		if bytes.Equal(p[n:end], zeros[:end-n]) != zero {
			break
		}
		n = end
	}
	return n
}

var zeros [block]byte

// Close gives the file its size, with a hole at its end where that is so.
func (w *Writer) Close() error { return w.file.Truncate(w.size) }
