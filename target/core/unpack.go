package core

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/holes"
	"github.com/sfwalk/sfwalk/internal/lz4file"
	"github.com/sfwalk/sfwalk/internal/xzfile"
)

// By default, a core may unpack to usualSize bytes plus maxRatio times its packed size. Cores of
// programs that do something pack to a fifth or a fiftieth.
const (
	usualSize = 512 << 20
	maxRatio  = 256
)

// maxWindow bounds the memory that zstd's decoder may ask for. zstd -19 and --long=26 need no more.
const maxWindow = 64 << 20

// ErrTooLarge says that a compressed core unpacks to more than is allowed.
var ErrTooLarge = errors.New("the core unpacks to more than is allowed")

// packed is a compressed core.
type packed struct {
	io.Reader
	size uint64 // bytes when unpacked; 0 if the file does not say
}

var magics = []struct {
	magic []byte
	name  string
	open  func(f *os.File, size int64) (packed, error)
}{
	{[]byte{0x28, 0xb5, 0x2f, 0xfd}, "zstd", func(f *os.File, size int64) (packed, error) {
		// A frame that is to be skipped may be a hole of 4 GiB.
		r := bufio.NewReaderSize(io.NewSectionReader(elffile.Solid(f), 0, size), 4*elffile.HoleSize)
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return packed{}, err
		}
		return packed{d.IOReadCloser(), 0}, nil
	}},
	{[]byte{0xfd, '7', 'z', 'X', 'Z', 0}, "xz", func(f *os.File, size int64) (packed, error) {
		x, err := xzfile.Open(f, size)
		if err != nil {
			return packed{}, err
		}
		return packed{x.Reader(), x.Unpacked}, nil
	}},
	{[]byte(lz4file.Magic), "lz4", func(f *os.File, size int64) (packed, error) {
		r, err := lz4file.NewReader(bufio.NewReaderSize(io.NewSectionReader(elffile.Solid(f), 0, size), 4*elffile.HoleSize))
		if err != nil {
			return packed{}, err
		}
		return packed{r, r.Size}, nil
	}},
	{[]byte{0x1f, 0x8b}, "gzip", unsupported("gzip -d")},
}

func unsupported(command string) func(*os.File, int64) (packed, error) {
	return func(*os.File, int64) (packed, error) {
		return packed{}, fmt.Errorf("cores compressed like this are not read: unpack it first, by %s", command)
	}
}

// unpacked is a core that was packed.
type unpacked struct {
	*os.File
	there int64
}

// usualRatio is how many bytes of a file that a packed core carries a byte on disk stands for.
// Programs and their debug information pack to a third or a quarter.
const usualRatio = 4

// There says what counts as there, so that what is made of the core's files is in proportion to its
// own.
func (u unpacked) There() int64 { return u.there }

// unpack returns file itself, or, if file is compressed, a temporary file that has its contents and
// that nobody else can see. It has limit bytes at most; a limit of 0 means the default.
func unpack(file *os.File, limit int64) (unpacked *os.File, closer func() error, err error) {
	var head [8]byte
	n, _ := file.ReadAt(head[:], 0)
	for _, m := range magics {
		if !bytes.HasPrefix(head[:n], m.magic) {
			continue
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		if limit <= 0 {
			limit = usualSize + maxRatio*elffile.There(file, info.Size())
		}
		p, err := m.open(file, info.Size())
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if c, ok := p.Reader.(io.Closer); ok {
			defer c.Close()
		}
		if p.size > uint64(limit) {
			return nil, nil, fmt.Errorf("%s: %d MiB, %d allowed: %w", m.name, p.size>>20, limit>>20, ErrTooLarge)
		}
		return unpackTo(p, m.name, limit)
	}
	return file, file.Close, nil
}

func unpackTo(r io.Reader, name string, limit int64) (file *os.File, closer func() error, err error) {
	tmp, err := os.CreateTemp("", "sfwalk-core")
	if err != nil {
		return nil, nil, err
	}
	closer = tmp.Close
	if os.Remove(tmp.Name()) != nil { // some systems keep the names of open files
		closer = func() error { return errors.Join(tmp.Close(), os.Remove(tmp.Name())) }
	}
	limit = min(limit, math.MaxInt64-1)
	out := holes.NewWriter(tmp)
	size, err := io.Copy(out, io.LimitReader(r, limit+1))
	if size > 0 && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, elffile.ErrHole) || errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, lz4file.ErrTrailer)) {
		err = nil // the rest is missing, or no core: the beginning still serves, and the headers tell how much is missing
	}
	if err == nil && size > limit {
		err = fmt.Errorf("more than %d MiB: %w", limit>>20, ErrTooLarge)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		closer()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return tmp, closer, nil
}
