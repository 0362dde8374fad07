// Package holes writes sparse files: blocks of zeros take up no room on disk. Core files and the
// mappings of processes are full of zeros.
package holes

import (
	"bytes"
	"io"
)

// block is the unit of holes in bytes, as most file systems have it.
const block = 4096

// File is the file that a [Writer] writes: an empty [os.File], at its beginning.
type File interface {
	io.WriterAt
	Truncate(size int64) error
}

// Writer writes the blocks that are not all zero to a file, and leaves holes for the others.
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

// run returns how many bytes at the beginning of p lie in blocks of the file that are all alike:
// all zero, or not. Of a block, only the bytes in p count.
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

// Close gives the file its size, where it ends with a hole.
func (w *Writer) Close() error { return w.file.Truncate(w.size) }
