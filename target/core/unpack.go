package core

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// maxUnpacked bounds what a compressed core may come to, bytes: more than the
// memory of the machines that cores are looked at on.
const maxUnpacked = 256 << 30

// maxWindow bounds the memory that a decompressor may ask for: xz -9 and
// zstd --ultra need no more.
const maxWindow = 128 << 20

var magics = []struct {
	magic []byte
	name  string
	open  func(io.Reader) (io.Reader, error)
}{
	{[]byte{0x28, 0xb5, 0x2f, 0xfd}, "zstd", func(r io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
	{[]byte{0xfd, '7', 'z', 'X', 'Z', 0}, "xz", func(r io.Reader) (io.Reader, error) {
		return xz.ReaderConfig{DictCap: maxWindow}.NewReader(r)
	}},
	{[]byte{0x04, 0x22, 0x4d, 0x18}, "lz4", unsupported("lz4 -d")},
	{[]byte{0x1f, 0x8b}, "gzip", unsupported("gzip -d")},
}

func unsupported(command string) func(io.Reader) (io.Reader, error) {
	return func(io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("cores compressed like this are not read: unpack it first, by %s", command)
	}
}

// unpack returns the file, or where it is compressed a temporary file that has
// what it holds and that nobody else can see.
func unpack(file *os.File) (unpacked *os.File, closer func() error, err error) {
	var head [8]byte
	n, _ := file.ReadAt(head[:], 0)
	for _, m := range magics {
		if !bytes.HasPrefix(head[:n], m.magic) {
			continue
		}
		defer file.Close()
		r, err := m.open(file)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if c, ok := r.(io.Closer); ok {
			defer c.Close()
		}
		return unpackTo(r, m.name)
	}
	return file, file.Close, nil
}

func unpackTo(r io.Reader, name string) (file *os.File, closer func() error, err error) {
	tmp, err := os.CreateTemp("", "sfwalk-core")
	if err != nil {
		return nil, nil, err
	}
	closer = tmp.Close
	if os.Remove(tmp.Name()) != nil { // some systems keep the names of open files
		closer = func() error { return errors.Join(tmp.Close(), os.Remove(tmp.Name())) }
	}
	size, err := copySparse(tmp, r)
	if errors.Is(err, io.ErrUnexpectedEOF) && size > 0 {
		err = nil // cut short: what there is serves, and the headers tell what is missing
	}
	if err == nil {
		err = tmp.Truncate(size)
	}
	if err != nil {
		closer()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return tmp, closer, nil
}

// copySparse leaves holes where there are zeros: cores have many.
func copySparse(w io.WriterAt, r io.Reader) (size int64, err error) {
	buf := make([]byte, 1<<20)
	for {
		n := 0
		for n < len(buf) && err == nil {
			var got int
			got, err = r.Read(buf[n:])
			n += got
		}
		if len(bytes.TrimLeft(buf[:n], "\x00")) > 0 {
			if _, err := w.WriteAt(buf[:n], size); err != nil {
				return size, err
			}
		}
		switch size += int64(n); {
		case err == io.EOF:
			return size, nil
		case err != nil:
			return size, err
		case size > maxUnpacked:
			return size, fmt.Errorf("it unpacks to more than %d GiB", maxUnpacked>>30)
		}
	}
}
