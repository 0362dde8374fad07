package elffile

import (
	"bytes"
	"io"
	"os"
)

// There returns how many of a file's size bytes are really there, without its holes. It returns
// size for a reader that is not a file of this machine, unless it has a method There, which says
// how many there are at most.
func There(r io.ReaderAt, size int64) int64 {
	for range 8 { // a part of a part
		switch x := r.(type) {
		case *os.File:
			info, err := x.Stat()
			if err != nil {
				return 0
			}
			return min(size, allocated(x, info))
		case *Known:
			return min(size, allocated(x.File, x.info))
		case solid:
			r = x.r
		case *io.SectionReader:
			r, _, _ = x.Outer()
		case interface{ There() int64 }:
			return min(size, x.There())
		default:
			return size
		}
	}
	return size
}

// identity is equal for two readers of the same bytes of a file.
type identity struct {
	file      any
	off, size int64
}

// Identity returns a key that is equal for readers of the same bytes of one file; ok is false where
// r does not tell its file.
func Identity(r io.ReaderAt, size int64) (id any, ok bool) {
	at := int64(0)
	for range 8 {
		switch x := r.(type) {
		case *os.File:
			info, err := x.Stat()
			if err != nil {
				return nil, false
			}
			file, ok := fileIdentity(x, info)
			return identity{file, at, size}, ok
		case *Known:
			file, ok := fileIdentity(x.File, x.info)
			return identity{file, at, size}, ok
		case solid:
			r = x.r
		case *io.SectionReader:
			outer, off, n := x.Outer()
			r, at, size = outer, at+off, min(size, n)
		case *bytes.Reader:
			return identity{x, at, size}, true
		case interface{ There() int64 }: // a file that nobody else has open
			return identity{x, at, size}, true
		default:
			return nil, false
		}
	}
	return nil, false
}
