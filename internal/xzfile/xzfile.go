// Package xzfile unpacks .xz files that may be hostile. It finds out the unpacked size before it
// begins, and gives the decoder no larger a dictionary than that size can need, whatever the file
// asks for. See the .xz file format, 1.2.0, and the LZMA2 chunks in xz-embedded's sources.
package xzfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// MaxDictionary is the size in bytes of the largest dictionary that a decoder gets, as xz -9 has
// it.
const MaxDictionary = 64 << 20

// A File is a packed file. Its streams and blocks follow one another.
type File struct {
	Unpacked uint64 // bytes that it unpacks to
	Cut      bool   // the file ends early; Unpacked counts the bytes that are there

	r      io.ReaderAt
	size   int64
	blocks []block
}

// block is a block of a stream.
type block struct {
	at, end    int64 // its LZMA2 chunks
	unpacked   uint64
	dictionary int  // bytes, no more than it can need
	check      byte // type of the check that follows the chunks, section 2.1.1.2
}

var errFormat = errors.New("not an xz file")

// maxPadding bounds the zeros behind a stream, bytes. What follows more of them is not read.
const maxPadding = 1 << 20

// Open looks through a file of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	if size == 0 {
		return nil, fmt.Errorf("it is empty: %w", errFormat)
	}
	padding := 0
	for at := int64(0); at < size; {
		var b [4]byte
		if f.read(b[:], at); b == [4]byte{} && at > 0 { // padding between streams
			if padding += 4; padding > maxPadding { // a hole
				f.Cut = true
				return f, nil
			}
			at += 4
			continue
		}
		padding = 0
		var err error
		if at, err = f.stream(at); err == io.ErrUnexpectedEOF && len(f.blocks) > 0 {
			f.Cut = true
			return f, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *File) read(b []byte, at int64) error {
	n, err := f.r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF || err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// stream looks through a stream, section 2.1, and returns where it ends.
func (f *File) stream(at int64) (end int64, err error) {
	const headerSize, footerSize = 12, 12
	var b [headerSize]byte
	if err := f.read(b[:], at); err != nil {
		return 0, err
	}
	if string(b[:6]) != "\xfd7zXZ\x00" {
		return 0, fmt.Errorf("magic number at %#x: % x: %w", at, b[:6], errFormat)
	}
	check := b[7] & 15
	at += headerSize
	for {
		var size [1]byte
		if err := f.read(size[:], at); err != nil {
			return 0, err
		}
		if size[0] == 0 {
			break
		}
		if at, err = f.block(at, 4*(int64(size[0])+1), check); err != nil {
			return 0, err
		}
	}
	if at, err = f.index(at); err != nil {
		return 0, err
	}
	if at+footerSize > f.size {
		return 0, io.ErrUnexpectedEOF
	}
	return at + footerSize, nil
}

// block looks through a block, section 3, whose header has some bytes.
func (f *File) block(at, headerSize int64, check byte) (end int64, err error) {
	const lzma2 = 0x21
	h := make([]byte, headerSize)
	if err := f.read(h, at); err != nil {
		return 0, err
	}
	fields := h[2 : headerSize-4]
	for _, flag := range []byte{0x40, 0x80} { // sizes
		if h[1]&flag != 0 {
			_, n := binary.Uvarint(fields)
			fields = fields[max(n, 0):]
		}
	}
	if h[1]&3 != 0 || len(fields) < 3 || fields[0] != lzma2 || fields[1] != 1 || fields[2] > 40 {
		return 0, fmt.Errorf("block at %#x is packed otherwise than by LZMA2 alone", at)
	}
	if crc32.ChecksumIEEE(h[:headerSize-4]) != binary.LittleEndian.Uint32(h[headerSize-4:]) {
		return 0, fmt.Errorf("header of the block at %#x: wrong checksum: %w", at, errFormat)
	}
	end, unpacked, err := f.chunks(at + headerSize)
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, err
	}
	// A dictionary has 2 or 3 times a power of two, 2^12 for 0; all ones for 40.
	size := func(code byte) uint64 { return uint64(2|code&1) << (code/2 + 11) }
	code := fields[2]
	for code > 0 && size(code-1) >= unpacked {
		code--
	}
	if size(code) > MaxDictionary {
		return 0, fmt.Errorf("block at %#x wants a dictionary of %d MiB, more than %d: unpack it first, by xz -d", at, size(code)>>20, MaxDictionary>>20)
	}
	f.blocks = append(f.blocks, block{at + headerSize, end, unpacked, int(size(code)), check})
	f.Unpacked += unpacked
	if err != nil {
		return 0, err
	}
	return (end+3)&^3 + checkSizes[check], nil
}

// checkSizes are the sizes of the checks behind blocks, section 2.1.1.2.
var checkSizes = [16]int64{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// chunks looks through the LZMA2 chunks from an offset on. It returns where they end and how many
// bytes they unpack to, as far as they are there.
func (f *File) chunks(at int64) (end int64, unpacked uint64, err error) {
	for {
		var b [6]byte
		if err := f.read(b[:1], at); err != nil {
			return f.size, unpacked, err
		}
		size, packed := uint64(0), int64(0)
		switch control := b[0]; {
		case control == 0:
			return at + 1, unpacked, nil
		case control <= 2: // as it is
			if err := f.read(b[1:3], at+1); err != nil {
				return f.size, unpacked, err
			}
			size = uint64(binary.BigEndian.Uint16(b[1:])) + 1
			packed = 3 + int64(size)
		case control < 0x80:
			return 0, unpacked, fmt.Errorf("LZMA2 chunk at %#x of unknown kind %#x: %w", at, control, errFormat)
		default:
			header := b[1:5]
			if control >= 0xc0 {
				header = b[1:6] // properties
			}
			if err := f.read(header, at+1); err != nil {
				return f.size, unpacked, err
			}
			// LZMA2 allows no more than 4 bits. The decoder has room for 12, which are 6 MB for
			// each chunk.
			if bits := b[5]%9 + b[5]/9%5; bits > 4 {
				return 0, unpacked, fmt.Errorf("LZMA2 chunk at %#x: lc and lp are %d together, more than 4: %w", at, bits, errFormat)
			}
			size = uint64(control&31)<<16 + uint64(binary.BigEndian.Uint16(b[1:])) + 1
			packed = 1 + int64(len(header)) + int64(binary.BigEndian.Uint16(b[3:])) + 1
		}
		unpacked += size
		at += packed
	}
}

// index returns where the index ends that begins at an offset, section 4.
func (f *File) index(at int64) (end int64, err error) {
	b := make([]byte, 0, 1<<12)
	room, from := at+1, 0
	number := func() (uint64, error) {
		for {
			if v, n := binary.Uvarint(b[from:]); n > 0 {
				from += n
				return v, nil
			} else if n < 0 {
				return 0, fmt.Errorf("index at %#x: %w", at, errFormat)
			}
			rest := copy(b[:cap(b)], b[from:])
			n, _ := f.r.ReadAt(b[rest:cap(b)], room)
			if n == 0 {
				return 0, io.ErrUnexpectedEOF
			}
			b, from, room = b[:rest+n], 0, room+int64(n)
		}
	}
	records, err := number()
	if err == nil && records > uint64(len(f.blocks)) {
		err = fmt.Errorf("index at %#x has %d blocks, there are %d: %w", at, records, len(f.blocks), errFormat)
	}
	for ; err == nil && records > 0; records-- {
		if _, err = number(); err == nil {
			_, err = number()
		}
	}
	if err != nil {
		return 0, err
	}
	size := room - int64(len(b)-from) - at
	return at + (size+3)&^3 + 4, nil
}
