package object

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
)

// ErrRelocation means that a relocation cannot be applied.
var ErrRelocation = errors.New("cannot relocate")

// minField is the size of the smallest field that a relocation writes.
const minField = 4

// relaSize returns the size of Elf64_Rela or Elf32_Rela.
func relaSize(class elf.Class) int {
	if class == elf.ELFCLASS32 {
		return 12
	}
	return 24
}

// relaAt decodes the element of an SHT_RELA section at the beginning of p.
func relaAt(im *elfimage.Image, p []byte) (off uint64, sym, kind uint32, addend uint64) {
	if im.Class == elf.ELFCLASS32 {
		info := im.Order.Uint32(p[4:])
		return uint64(im.Order.Uint32(p)), info >> 8, info & 0xff, uint64(int32(im.Order.Uint32(p[8:])))
	}
	info := im.Order.Uint64(p[8:])
	return im.Order.Uint64(p), uint32(info >> 32), uint32(info), im.Order.Uint64(p[16:])
}

// relocate applies the relocations of f's SHT_RELA sections for section i to data, the bytes of
// that section. Undefined symbols count as 0.
//
// In V1, and in V2 without SFRAME_F_FDE_FUNC_START_PCREL, SFrame's start addresses count from the
// start of the section. Assemblers write relocations that count from the field all the same, and
// the linker makes up for it. So does relocate.
func relocate(im *elfimage.Image, f *elfimage.File, i int, data []byte, l Layout) error {
	left := uint64(len(data) / minField) // data has no more fields
	for _, rela := range f.Sections {
		if rela.Info != uint32(i) || rela.Type != elf.SHT_RELA && rela.Type != elf.SHT_REL {
			continue
		}
		if rela.Type == elf.SHT_REL {
			return fmt.Errorf("section %s: %w: relocations without addends", rela.Name, ErrRelocation)
		}
		n := rela.Size / uint64(relaSize(im.Class))
		if n > left {
			return fmt.Errorf("section %s: %w: %d entries for the section's %#x bytes", rela.Name, ErrRelocation, n, len(data))
		}
		left -= n
		if err := apply(im, f, rela, i, data, l); err != nil {
			return fmt.Errorf("section %s: %w", rela.Name, err)
		}
	}
	return nil
}

// apply applies one SHT_RELA section.
func apply(im *elfimage.Image, f *elfimage.File, rela *elfimage.Section, target int, data []byte, l Layout) error {
	if !elfimage.Relocates(im.Machine, im.Class) {
		return fmt.Errorf("%w: relocations of %v, %v are not known", ErrRelocation, im.Machine, im.Class)
	}
	file, err := im.Standard()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRelocation, err)
	}
	symbols, err := newSymbols(file, rela.Link, l)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRelocation, err)
	}
	relocs, err := im.SectionData(rela)
	if err != nil {
		return err
	}
	fromSection := elfimage.IsSFrame(f.Sections[target]) && !countsFromField(data)
	size := relaSize(im.Class)
	for at := 0; at+size <= len(relocs); at += size {
		off, sym, kind, addend := relaAt(im, relocs[at:])
		if kind == 0 {
			continue // R_…_NONE, the same number on all machines
		}
		r, ok := elfimage.RelocationOf(im.Machine, kind)
		if !ok {
			return fmt.Errorf("%w: entry %d: type %d of %v is not known", ErrRelocation, at/size, kind, im.Machine)
		}
		if off > uint64(len(data)) || uint64(len(data))-off < r.Size {
			return fmt.Errorf("%w: entry %d: offset %#x lies beyond the section's %#x bytes", ErrRelocation, at/size, off, len(data))
		}
		v, err := symbols.addr(sym)
		if err != nil {
			return fmt.Errorf("%w: entry %d: %w", ErrRelocation, at/size, err)
		}
		v += addend
		if r.PCRel {
			v -= l[target]
			if !fromSection {
				v -= off
			}
		}
		switch {
		case r.Size == 8:
			im.Order.PutUint64(data[off:], v)
		case int64(v) == int64(int32(v)), !r.PCRel && v <= math.MaxUint32:
			im.Order.PutUint32(data[off:], uint32(v))
		default:
			return fmt.Errorf("%w: entry %d: %#x does not fit the field of 4 bytes at %#x", ErrRelocation, at/size, v, off)
		}
	}
	return nil
}

// countsFromField reports whether the header of an SFrame section says that start
// addresses are relative to the field that holds them.
func countsFromField(data []byte) bool {
	const version, flags = 2, 3 // offsets in the preamble
	return len(data) > flags && data[version] >= byte(sframe.V2) && data[flags]&byte(sframe.FDEFuncStartPCRel) != 0
}
