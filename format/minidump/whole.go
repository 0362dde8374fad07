package minidump

import (
	"io"
	"os"
)

// maxWhole bounds the files that are read at once, bytes. Most reports are smaller; a file that
// claims to be may be sparse, so that it is no larger bound.
const maxWhole = 2 << 20

// whole is a dump in memory.
type whole []byte

// readWhole reads a small file, which has size bytes.
func readWhole(file *os.File, size int64) (whole, error) {
	b := make(whole, size)
	n, err := io.ReadFull(file, b)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // it was cut meanwhile: the readers say what is missing
	}
	return b[:n], err
}

// ReadAt implements [io.ReaderAt].
func (w whole) ReadAt(p []byte, off int64) (n int, err error) {
	if off >= 0 && off < int64(len(w)) {
		n = copy(p, w[off:])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Lend returns n bytes from off on, which nobody changes; nil if the file does not have them.
func (w whole) Lend(off, n uint64) []byte {
	if off > uint64(len(w)) || n > uint64(len(w))-off {
		return nil
	}
	return w[off : off+n : off+n]
}
