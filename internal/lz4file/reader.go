// Package lz4file unpacks LZ4's frame format (lz4_Frame_format.md 1.6), in which older releases of
// systemd-coredump keep cores.
//
// A stream of packed bytes goes in; the unpacked bytes come out. The format bounds memory: a block
// of 4 MiB and its packed form, and 64 KiB before it. Checksums are verified. Dictionaries are not
// read.
package lz4file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Magic is what a frame begins with.
const Magic = "\x04\x22\x4d\x18"

const (
	skippable, skippableMask = 0x184d2a50, 0xfffffff0

	window   = 64 << 10 // how far back a match may begin
	minMatch = 4
)

// Errors of a Reader.
var (
	ErrFormat  = errors.New("damaged, or no LZ4 frame")
	ErrTrailer = errors.New("what is behind the last frame is none") // the frames before it are whole
)

// Reader is a stream that is unpacked.
type Reader struct {
	// Size is how many bytes the first frame says that it unpacks to; 0 if it does not say.
	Size uint64

	in   io.Reader
	err  error
	rest []byte // of out, not read yet

	linked, blockSums, sum bool
	most                   int    // bytes of a block of this frame
	out                    []byte // the last bytes of the blocks before, then a block
	packed                 []byte
	content                xxh32
}

// NewReader returns a stream. It reads the first frame's header.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: in}
	var magic [4]byte
	if _, err := io.ReadFull(in, magic[:]); err != nil || string(magic[:]) != Magic {
		return nil, errors.Join(err, ErrFormat)
	}
	return r, r.header(&r.Size)
}

// Read implements [io.Reader]. It returns [io.ErrUnexpectedEOF] where the stream is cut short,
// behind all blocks that are whole.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.err = r.next()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// header reads a frame's descriptor, behind the magic number.
func (r *Reader) header(size *uint64) error {
	d := make([]byte, 2, 14)
	if _, err := io.ReadFull(r.in, d); err != nil {
		return cut(err)
	}
	flags, block := d[0], d[1]
	if flags>>6 != 1 || flags&2 != 0 || block&0x8f != 0 || block>>4 < 4 {
		return fmt.Errorf("flags %#x, %#x: %w", flags, block, ErrFormat)
	}
	if flags&1 != 0 {
		return errors.New("the frame needs a dictionary")
	}
	r.linked, r.blockSums, r.sum = flags&0x20 == 0, flags&0x10 != 0, flags&4 != 0
	r.most = 1 << (8 + 2*(block>>4)) // 64 KiB, 256 KiB, 1 MiB, 4 MiB
	if flags&8 != 0 {
		d = d[:10]
		if _, err := io.ReadFull(r.in, d[2:]); err != nil {
			return cut(err)
		}
		*size = binary.LittleEndian.Uint64(d[2:])
	}
	var check [1]byte
	if _, err := io.ReadFull(r.in, check[:]); err != nil {
		return cut(err)
	}
	if byte(sumOf(d)>>8) != check[0] {
		return fmt.Errorf("the header's checksum differs: %w", ErrFormat)
	}
	r.out, r.content = r.out[:0], newXXH32()
	return nil
}

// next reads a block, or what is between two frames.
func (r *Reader) next() error {
	size, err := r.word()
	if err != nil {
		return err
	}
	if size == 0 {
		return r.end()
	}
	raw := size>>31 != 0
	n := int(size &^ (1 << 31))
	if n > r.most {
		return fmt.Errorf("a block of %d bytes, of at most %d: %w", n, r.most, ErrFormat)
	}
	if cap(r.packed) < n {
		r.packed = make([]byte, n)
	}
	block := r.packed[:n]
	if _, err := io.ReadFull(r.in, block); err != nil {
		return cut(err)
	}
	if r.blockSums {
		if want, err := r.word(); err != nil {
			return err
		} else if sumOf(block) != want {
			return fmt.Errorf("a block's checksum differs: %w", ErrFormat)
		}
	}
	before := 0
	if r.linked {
		before = min(len(r.out), window)
		r.out = append(r.out[:0], r.out[len(r.out)-before:]...)
	} else {
		r.out = r.out[:0]
	}
	if raw {
		r.out = append(r.out, block...)
	} else if r.out, err = unpack(r.out, block, before+r.most); err != nil {
		return err
	}
	r.rest = r.out[before:]
	if r.sum {
		r.content.write(r.rest)
	}
	return nil
}

// end reads the end of a frame, and the beginning of the next one.
func (r *Reader) end() error {
	if r.sum {
		want, err := r.word()
		if err != nil {
			return err
		}
		if r.content.sum() != want {
			return fmt.Errorf("the content's checksum differs: %w", ErrFormat)
		}
	}
	for {
		var magic [4]byte
		if _, err := io.ReadFull(r.in, magic[:]); err != nil {
			if err == io.EOF {
				return err
			}
			return cut(err)
		}
		if string(magic[:]) == Magic {
			var size uint64
			return r.header(&size)
		}
		if binary.LittleEndian.Uint32(magic[:])&skippableMask != skippable {
			return ErrTrailer
		}
		n, err := r.word()
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, r.in, int64(n)); err != nil {
			return cut(err)
		}
	}
}

func (r *Reader) word() (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(r.in, b[:]); err != nil {
		return 0, cut(err)
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// cut returns the error of a stream that ends too early.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unpack appends a block to out (lz4_Block_format.md), which may have most bytes then.
func unpack(out, block []byte, most int) ([]byte, error) {
	damaged := func(what string) ([]byte, error) {
		return out, fmt.Errorf("%s: %w", what, ErrFormat)
	}
	for len(block) > 0 {
		token := block[0]
		block = block[1:]
		literals, rest, ok := length(int(token>>4), block)
		if block = rest; !ok || literals > len(block) || len(out)+literals > most {
			return damaged("literals beyond the block")
		}
		out = append(out, block[:literals]...)
		if block = block[literals:]; len(block) == 0 {
			return out, nil // the last sequence has no match
		}
		if len(block) < 2 {
			return damaged("half an offset")
		}
		back := int(binary.LittleEndian.Uint16(block))
		match, rest, ok := length(int(token&15), block[2:])
		match += minMatch
		if block = rest; !ok || back == 0 || back > len(out) || len(out)+match > most {
			return damaged("a match beyond the block")
		}
		for match > 0 { // it may overlap what it makes
			n := min(match, back)
			at := len(out) - back
			out = append(out, out[at:at+n]...)
			match -= n
		}
	}
	return out, nil
}

// length reads a length, whose first part is n: bytes follow if that is 15, until one is not 255.
func length(n int, b []byte) (whole int, rest []byte, ok bool) {
	if n < 15 {
		return n, b, true
	}
	for i, x := range b {
		if n += int(x); x != 255 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
