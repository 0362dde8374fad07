package elf

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

// Contents gives a section's bytes piece by piece, for callers that need a small part of a large
// section. One of Plain and Unpack is set.
type Contents struct {
	Size   uint64                    // in bytes, not compressed
	Offset int64                     // of the section in the file
	Packed int64                     // bytes of the section in the file
	Plain  io.ReaderAt               // the section's bytes
	Unpack func() (io.Reader, error) // begins to read a compressed section's bytes, from the first on
}

// Contents is [Image.Section] without reading the bytes. It limits a compressed section's size as
// Section does.
func (im *Image) Contents(names ...string) (*Contents, error) {
	for _, name := range names {
		if s := im.ELF().Section(name); s != nil && s.Type != elf.SHT_NOBITS {
			return im.contents(s)
		}
	}
	return nil, fmt.Errorf("%s: %w", names[0], ErrNoSection)
}

func (im *Image) contents(s *Section) (*Contents, error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	packed, err := im.packed(s)
	if err != nil {
		return nil, fmt.Errorf("read section %s: %w", s.Name, err)
	}
	c := &Contents{Size: s.FileSize, Offset: int64(s.Offset), Packed: int64(s.FileSize)}
	if packed != nil {
		c.Size = packed.Size
	}
	if err := im.checkSize(s, c.Size, packed != nil); err != nil {
		return nil, err
	}
	raw := io.NewSectionReader(im.r, int64(s.Offset), int64(s.FileSize))
	if packed == nil {
		c.Plain = raw
		return c, nil
	}
	r := packed.Open()
	c.Unpack = func() (io.Reader, error) {
		if s.Flags&(elf.SHF_COMPRESSED|elf.SHF_ALLOC) == elf.SHF_COMPRESSED {
			packed, err := im.zlib(raw)
			if err != nil {
				return nil, fmt.Errorf("read section %s: %w", s.Name, err)
			}
			if packed != nil {
				return packed, nil
			}
		}
		_, err := r.Seek(0, io.SeekStart)
		return r, err
	}
	return c, nil
}

// zlib returns the decoder of a section compressed by zlib, RFC 1950; nil for
// another kind of compression. It takes two thirds of the time of the standard
// library's decoder.
func (im *Image) zlib(raw *io.SectionReader) (io.Reader, error) {
	header := 12 // size of Elf32_Chdr
	if im.Class == elf.ELFCLASS64 {
		header = 24
	}
	b := make([]byte, header+2)
	if _, err := raw.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("header of the compressed bytes: %w", err)
	}
	if elf.CompressionType(im.Order.Uint32(b)) != elf.COMPRESS_ZLIB {
		return nil, nil
	}
	const deflate, dictionary = 8, 0x20
	if b[header]&15 != deflate || binary.BigEndian.Uint16(b[header:])%31 != 0 || b[header+1]&dictionary != 0 {
		return nil, errors.New("compressed bytes have no zlib header")
	}
	rest := io.NewSectionReader(raw, int64(len(b)), raw.Size()-int64(len(b)))
	return flate.NewReader(bufio.NewReaderSize(rest, 16<<10)), nil
}
