// Package lz4file unpacks LZ4's frame format (lz4_Frame_format.md 1.6), in which older releases of
// systemd-coredump keep cores.
//
// A stream of packed bytes goes in; the unpacked bytes come out. github.com/pierrec/lz4 does the
// work; this package bounds its stack and tells its errors apart. The format bounds memory: a block
// of at most 8 MiB, its packed form, and the block before it. Checksums are verified. Dictionaries
// are not read.
package lz4file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// Magic is what a frame begins with.
const Magic = "\x04\x22\x4d\x18"

// Errors of a Reader. An error of the stream that is read comes as it is.
var (
	ErrFormat  = errors.New("damaged, or no LZ4 frame")
	ErrTrailer = errors.New("what is behind the last frame is none") // the frames before it are whole
)

// Reader is a stream that is unpacked.
type Reader struct {
	// Size is how many bytes the first frame says that it unpacks to; 0 if it does not say.
	Size uint64

	lz4 *lz4.Reader
}

// NewReader returns a stream. It reads the first frame's header.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{lz4: lz4.NewReader(&source{in: in})}
	if _, err := r.lz4.Read(nil); err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, told(err)
	}
	r.Size = uint64(max(0, r.lz4.Size()))
	return r, nil
}

// Read implements [io.Reader]. It returns [io.ErrUnexpectedEOF] where the stream is cut short,
// behind all blocks that are whole.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.lz4.Read(p)
	if errors.Is(err, lz4.ErrInvalidFrame) { // NewReader has seen the first frame
		err = ErrTrailer
	}
	return n, told(err)
}

// told returns err, as an ErrFormat if the library has made it.
func told(err error) error {
	if of := lz4.ErrInvalidFrame; errors.As(err, &of) { // its type, whatever it says
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}

// source is the stream that the library reads. The library takes stack for each magic number of
// LZ4's first format that follows another one, and gives it back behind the last.
type source struct {
	in  io.Reader
	old int // such numbers in a row
}

const oldMagic, maxOld = 0x184c2102, 16

// Read implements [io.Reader]. It fills p if it can: the library reads a magic number at once.
func (s *source) Read(p []byte) (int, error) {
	n, err := io.ReadFull(s.in, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	if n != 4 || len(p) != 4 || binary.LittleEndian.Uint32(p) != oldMagic {
		s.old = 0
	} else if s.old++; s.old > maxOld {
		return 0, fmt.Errorf("frames without blocks: %w", ErrFormat)
	}
	return n, err
}
