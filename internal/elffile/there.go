package elffile

import (
	"io"
	"os"
)

// There returns how many bytes of a file of size bytes are there at all, holes left out. What is
// not a file of this machine is taken to be there.
func There(r io.ReaderAt, size int64) int64 {
	for range 8 { // a part of a part
		switch x := r.(type) {
		case *os.File:
			return min(size, allocated(x))
		case solid:
			r = x.r
		case *io.SectionReader:
			r, _, _ = x.Outer()
		default:
			return size
		}
	}
	return size
}
