package xzfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// Checks of blocks that are compared with the unpacked bytes; others are not.
const (
	checkCRC32  = 1
	checkCRC64  = 4
	checkSHA256 = 10
)

var errCheck = errors.New("xz: what is unpacked is not what was packed")

// Reader returns a reader of the unpacked bytes, from the first one on.
func (f *File) Reader() io.Reader { return &reader{f: f, rest: f.blocks} }

type reader struct {
	f    *File
	rest []block // blocks that were not begun

	packed   *bufio.Reader // of block
	block    block
	unpacked io.Reader // of block; nil before the first and behind the last
	left     uint64    // bytes of block
	sum      hash.Hash // nil if the block has no check that is known
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (n int, err error) {
	for r.left == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n, err = r.unpacked.Read(p[:min(uint64(len(p)), r.left)])
	if r.sum != nil {
		r.sum.Write(p[:n])
	}
	if r.left -= uint64(n); err == io.EOF {
		if err = nil; r.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// next ends a block and begins the next one.
func (r *reader) next() error {
	if r.unpacked != nil && r.sum != nil {
		want := make([]byte, checkSizes[r.block.check])
		if err := r.f.read(want, (r.block.end+3)&^3); err != nil {
			return err
		}
		got := r.sum.Sum(nil)
		if r.block.check != checkSHA256 { // the other two are little endian
			for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
				got[i], got[j] = got[j], got[i]
			}
		}
		if !bytes.Equal(got, want) {
			return errCheck
		}
	}
	r.unpacked = nil // and its dictionary
	if len(r.rest) == 0 {
		if r.f.Cut {
			return io.ErrUnexpectedEOF
		}
		return io.EOF
	}
	b := r.rest[0]
	r.rest, r.block, r.left = r.rest[1:], b, b.unpacked
	var err error
	packed := io.NewSectionReader(r.f.r, b.at, b.end-b.at)
	if r.packed == nil {
		r.packed = bufio.NewReaderSize(packed, 64<<10)
	} else {
		r.packed.Reset(packed) // a block may be as small as 30 bytes
	}
	r.unpacked, err = lzma.Reader2Config{DictCap: b.dictionary}.NewReader2(r.packed)
	switch b.check {
	case checkCRC32:
		r.sum = crc32.NewIEEE()
	case checkCRC64:
		r.sum = crc64.New(crc64.MakeTable(crc64.ECMA))
	case checkSHA256:
		r.sum = sha256.New()
	default:
		r.sum = nil
	}
	return err
}
