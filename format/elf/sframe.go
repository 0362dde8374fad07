package elf

import (
	"debug/elf"
	"errors"
	"strings"
)

// The section type and the segment type of SFrame (binutils, include/elf/common.h), which debug/elf
// does not have. Older linkers (binutils 2.40 to 2.44) give the section the type SHT_PROGBITS.
const (
	SHT_GNU_SFRAME elf.SectionType = 0x6ffffff4
	PT_GNU_SFRAME  elf.ProgType    = 0x6474e554
)

// IsSFrame reports whether a section holds SFrame: by its type, or by its name, which is .sframe,
// or .sframe and a suffix.
func IsSFrame(s *Section) bool {
	return s.Type == SHT_GNU_SFRAME || s.Name == ".sframe" || strings.HasPrefix(s.Name, ".sframe.")
}

// SFrame returns the bytes and the address of the image's first SFrame section: by name, since
// older linkers give it no type of its own, by type, or by segment, which stripping and loading
// leave. The error wraps [ErrNoSection] where there is none, and [ErrBudget] where there is no room
// for it.
func (im *Image) SFrame() (data []byte, addr uint64, err error) {
	if data, addr, err = im.Section(".sframe"); err == nil {
		return data, addr, nil
	}
	if errors.Is(err, ErrBudget) {
		return nil, 0, err
	}
	if data, addr, err = im.SectionType(SHT_GNU_SFRAME); err == nil || errors.Is(err, ErrBudget) {
		return data, addr, err
	}
	return im.Segment(PT_GNU_SFRAME)
}
