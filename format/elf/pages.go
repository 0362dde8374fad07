package elf

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sfwalk/sfwalk/format/pages"
	"github.com/sfwalk/sfwalk/internal/elffile"
)

// Pages is [Image.Section] for callers that look up a few entries of a large table: they ask for
// the bytes as they need them.
func (im *Image) Pages(names ...string) (b *pages.Bytes, addr uint64, err error) {
	for _, name := range names {
		if s := im.ELF().Section(name); s != nil && s.Type != elf.SHT_NOBITS {
			b, err = im.sectionPages(s)
			return b, s.Addr, err
		}
	}
	return nil, 0, fmt.Errorf("%s: %w", names[0], ErrNoSection)
}

func (im *Image) sectionPages(s *Section) (*pages.Bytes, error) {
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		im.mu.Lock()
		b, err := im.pages(s, s.Offset, s.FileSize)
		im.mu.Unlock()
		if b != nil || err != nil {
			return b, err
		}
	}
	data, err := im.SectionData(s)
	if err != nil {
		return nil, err
	}
	return pages.Of(data), nil
}

// pages returns n bytes of the file that are to be read page by page; nil if it is better to read
// them all: few bytes, memory, which changes, and a part of a file that has holes. The caller holds
// im.mu.
func (im *Image) pages(part any, off, n uint64) (*pages.Bytes, error) {
	if n < elffile.HoleSize || n > math.MaxInt32 || n > uint64(im.there) || n > im.most() || im.inMemory || off > uint64(im.size) || n > uint64(im.size)-off {
		return nil, nil
	}
	if err := im.roomOnce(part, int64(n)); err != nil {
		return nil, err
	}
	return pages.New(io.NewSectionReader(im.r, int64(off), int64(n)), int(n)), nil
}

// SegmentPages is [Image.Segment] for callers that ask for the bytes as they need them.
func (im *Image) SegmentPages(t elf.ProgType) (b *pages.Bytes, addr uint64, err error) {
	for _, p := range im.Progs {
		if p.Type == t {
			im.mu.Lock()
			b, err = im.pages(int64(p.Off), p.Off, p.Filesz)
			im.mu.Unlock()
			if b != nil || err != nil {
				return b, p.Vaddr, err
			}
			break
		}
	}
	data, addr, err := im.Segment(t)
	if err != nil {
		return nil, addr, err
	}
	return pages.Of(data), addr, nil
}

// SFramePages is [Image.SFrame] for callers that ask for the bytes as they need them.
func (im *Image) SFramePages() (b *pages.Bytes, addr uint64, err error) {
	if b, addr, err = im.Pages(".sframe"); err == nil || errors.Is(err, ErrBudget) {
		return b, addr, err
	}
	for _, s := range im.ELF().Sections {
		if s.Type == SHT_GNU_SFRAME {
			if b, err = im.sectionPages(s); err == nil || errors.Is(err, ErrBudget) {
				return b, s.Addr, err
			}
			break
		}
	}
	return im.SegmentPages(PT_GNU_SFRAME)
}

// LoadedPages is [Image.Loaded] for callers that ask for the bytes as they need them.
func (im *Image) LoadedPages(addr, max uint64) (*pages.Bytes, error) {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && addr-p.Vaddr < p.Filesz {
			at := addr - p.Vaddr
			im.mu.Lock()
			b, err := im.pages(int64(p.Off+at), p.Off+at, min(p.Filesz-at, max))
			im.mu.Unlock()
			if b != nil || err != nil {
				return b, err
			}
			break
		}
	}
	return pages.Of(im.Loaded(addr, max)), nil
}
