package fromelf

import (
	"io"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/elffile"
)

// blob is a section that is read part by part, or is in memory if it is compressed in the file.
type blob struct {
	data []byte
	file io.ReaderAt // nil if the section is in memory
	size uint64
}

// openBlob finds a section; it is empty if there is none.
func openBlob(im *elf.Image, names ...string) (b blob, err error) {
	c, err := im.Contents(names...)
	if err != nil {
		return b, err
	}
	if c.Plain != nil {
		return blob{file: c.Plain, size: c.Size}, nil
	}
	data, _, err := im.Section(names...)
	return blob{data: data, size: uint64(len(data))}, err
}

// part returns the bytes [lo, hi), or as many of them as the section has. It may read them into
// buf.
func (b *blob) part(lo, hi uint64, buf []byte) []byte {
	hi = min(hi, b.size)
	if lo >= hi {
		return nil
	}
	if b.file == nil {
		return b.data[lo:hi]
	}
	n := int(hi - lo)
	if cap(buf) < n && n > elffile.HoleSize { // it may be said of what is a hole
		data, _ := elffile.ReadPart(b.file, int64(lo), uint64(n))
		return data
	}
	if cap(buf) < n {
		buf = make([]byte, n, n+n/4)
	}
	got, _ := b.file.ReadAt(buf[:n], int64(lo))
	return buf[:got]
}
