package sectioncache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A file of the cache is a head, zeros up to a multiple of headAlign, and the section's bytes. The
// head is
//
//	magic                8 bytes, with the version
//	checksum             4 bytes: CRC-32C of the rest of the head
//	length of the key    4 bytes
//	key                  what the section is, in text
//	size                 8 bytes: of the section
//	checksums            4 bytes for each block of the section: CRC-32C
//
// All numbers are little-endian. A reader knows the key and the size, and so every byte of the head
// but the checksums: it believes no length that it reads.
const (
	magic     = "sfwinfl\x01"
	blockSize = 16 << 10
	headAlign = 4 << 10
)

// errDamaged says that a file of the cache is not as it was written, or is of another section.
var errDamaged = errors.New("damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// blocks returns the number of blocks of a section of size bytes.
func blocks(size int64) int { return int((size + blockSize - 1) / blockSize) }

// appendHead appends the head of a section's file.
func appendHead(b []byte, key string, size int64, sums []uint32) []byte {
	start := len(b)
	b = append(b, magic...)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(key)))
	b = append(b, key...)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	for _, sum := range sums {
		b = binary.LittleEndian.AppendUint32(b, sum)
	}
	at := start + len(magic)
	binary.LittleEndian.PutUint32(b[at:], checksum(b[at+4:]))
	return b
}

// headSize returns the size of a head, and the offset of the section's bytes behind it.
func headSize(key string, size int64) (head int, begin int64) {
	head = len(magic) + 4 + 4 + len(key) + 8 + 4*blocks(size)
	return head, (int64(head) + headAlign - 1) &^ (headAlign - 1)
}

// reader reads the section's bytes from a file of the cache.
type reader struct {
	file  io.ReaderAt
	begin int64 // offset of the section's bytes in the file
	size  int64
	sums  []byte // checksums of the blocks

	block [2][]byte // the blocks that were read last, the last one first; their memory is used again
	index [2]int64  // which ones; -1 for none
}

// newReader reads and checks the head of a file that should have the section of a key.
func newReader(file io.ReaderAt, key string, size int64) (*reader, error) {
	n, begin := headSize(key, size)
	head := make([]byte, n)
	if got, err := file.ReadAt(head, 0); got < n {
		return nil, fmt.Errorf("read head: %w", err)
	}
	sums := head[n-4*blocks(size):]
	want := appendHead(make([]byte, 0, n-len(sums)), key, size, nil)
	at := len(magic)
	if !bytes.Equal(head[:at], want[:at]) || !bytes.Equal(head[at+4:n-len(sums)], want[at+4:]) || binary.LittleEndian.Uint32(head[at:]) != checksum(head[at+4:]) {
		return nil, fmt.Errorf("head: %w", errDamaged)
	}
	return &reader{file: file, begin: begin, size: size, sums: sums, index: [2]int64{-1, -1}}, nil
}

// ReadAt implements [io.ReaderAt]. It checks each block that it reads. It is not for concurrent
// use.
func (r *reader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("offset %d is negative", off)
	}
	for n < len(p) {
		if off >= r.size {
			return n, io.EOF
		}
		i := off / blockSize
		from := off - i*blockSize
		length := min(blockSize, r.size-i*blockSize)
		if rest := p[n:]; from == 0 && int64(len(rest)) >= length && !r.has(i) {
			if err := r.read(i, rest[:length]); err != nil { // it need not be copied
				return n, err
			}
			n, off = n+int(length), off+length
			continue
		}
		b, err := r.get(i, length)
		if err != nil {
			return n, err
		}
		got := copy(p[n:], b[from:])
		n, off = n+got, off+int64(got)
	}
	return n, nil
}

func (r *reader) has(i int64) bool { return r.index[0] == i || r.index[1] == i }

// get returns the block with an index. It is valid until the next call but one.
func (r *reader) get(i, length int64) ([]byte, error) {
	if r.index[0] == i {
		return r.block[0], nil
	}
	r.block[0], r.block[1] = r.block[1], r.block[0]
	r.index[0], r.index[1] = r.index[1], r.index[0]
	if r.index[0] == i {
		return r.block[0], nil
	}
	if r.block[0] == nil {
		r.block[0] = make([]byte, min(blockSize, r.size))
	}
	r.index[0] = -1
	b := r.block[0][:length]
	if err := r.read(i, b); err != nil {
		return nil, err
	}
	r.block[0], r.index[0] = b, i
	return b, nil
}

// read reads a whole block.
func (r *reader) read(i int64, b []byte) error {
	at := r.begin + i*blockSize
	if n, err := r.file.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("read at %#x: %w", at, err)
	}
	if checksum(b) != binary.LittleEndian.Uint32(r.sums[4*i:]) {
		return fmt.Errorf("block at %#x: %w", at, errDamaged)
	}
	return nil
}

// write writes the file of a section, whose bytes inflated has. check is called before each part.
func write(file io.WriterAt, key string, size int64, inflated io.Reader, check func() error) error {
	_, begin := headSize(key, size)
	sums := make([]uint32, 0, blocks(size))
	part := make([]byte, min(8*blockSize, size))
	for at := int64(0); at < size; {
		if err := check(); err != nil {
			return err
		}
		b := part[:min(int64(len(part)), size-at)]
		if _, err := io.ReadFull(inflated, b); err != nil {
			return err
		}
		if _, err := file.WriteAt(b, begin+at); err != nil {
			return err
		}
		at += int64(len(b))
		for len(b) > 0 {
			n := min(blockSize, len(b))
			sums, b = append(sums, checksum(b[:n])), b[n:]
		}
	}
	_, err := file.WriteAt(appendHead(nil, key, size, sums), 0)
	return err
}
