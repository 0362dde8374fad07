package object

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/sframe"
)

// ErrRelocation: a relocation cannot be applied.
var ErrRelocation = errors.New("cannot relocate")

// A relocKind says what a relocation of a data section writes.
type relocKind struct {
	size  int  // in bytes
	pcrel bool // less the address of the field
}

// relocKinds are the relocations that assemblers write in .sframe, .eh_frame
// and .debug_frame.
var relocKinds = map[elf.Machine]map[uint32]relocKind{
	elf.EM_X86_64: {
		uint32(elf.R_X86_64_64):   {8, false},
		uint32(elf.R_X86_64_32):   {4, false},
		uint32(elf.R_X86_64_32S):  {4, false},
		uint32(elf.R_X86_64_PC32): {4, true},
		uint32(elf.R_X86_64_PC64): {8, true},
	},
	elf.EM_AARCH64: {
		uint32(elf.R_AARCH64_ABS64):  {8, false},
		uint32(elf.R_AARCH64_ABS32):  {4, false},
		uint32(elf.R_AARCH64_PREL64): {8, true},
		uint32(elf.R_AARCH64_PREL32): {4, true},
	},
	elf.EM_S390: {
		uint32(elf.R_390_64):   {8, false},
		uint32(elf.R_390_32):   {4, false},
		uint32(elf.R_390_PC32): {4, true},
		uint32(elf.R_390_PC64): {8, true},
	},
}

// symbolSize is the size of Elf64_Sym, relaSize that of Elf64_Rela.
const (
	symbolSize = 24
	relaSize   = 24
)

// relocate applies to data, which is the bytes of section i, all that the
// file's SHT_RELA sections say of it. Undefined symbols count as 0.
//
// Where the start addresses of SFrame count from the start of the section (V1,
// and V2 without SFRAME_F_FDE_FUNC_START_PCREL), assemblers write relocations
// that count from the field all the same, and the linker makes up for it. So
// does relocate.
func relocate(f *elf.File, i int, data []byte, l Layout) error {
	for _, rela := range f.Sections {
		if rela.Info != uint32(i) || rela.Type != elf.SHT_RELA && rela.Type != elf.SHT_REL {
			continue
		}
		if rela.Type == elf.SHT_REL {
			return fmt.Errorf("section %s: %w: relocations without addends", rela.Name, ErrRelocation)
		}
		if err := apply(f, rela, i, data, l); err != nil {
			return fmt.Errorf("section %s: %w", rela.Name, err)
		}
	}
	return nil
}

// apply applies one SHT_RELA section.
func apply(f *elf.File, rela *elf.Section, target int, data []byte, l Layout) error {
	kinds, ok := relocKinds[f.Machine]
	if !ok || f.Class != elf.ELFCLASS64 {
		return fmt.Errorf("%w: relocations of %v, %v are not known", ErrRelocation, f.Machine, f.Class)
	}
	if rela.Link >= uint32(len(f.Sections)) || f.Sections[rela.Link].Type != elf.SHT_SYMTAB {
		return fmt.Errorf("%w: its link %d is no symbol table", ErrRelocation, rela.Link)
	}
	relocs, err := read(rela)
	if err != nil {
		return err
	}
	symbols, err := read(f.Sections[rela.Link])
	if err != nil {
		return err
	}
	fromSection := isSFrame(f.Sections[target]) && !countsFromField(data)
	for at := 0; at+relaSize <= len(relocs); at += relaSize {
		off := f.ByteOrder.Uint64(relocs[at:])
		info := f.ByteOrder.Uint64(relocs[at+8:])
		addend := f.ByteOrder.Uint64(relocs[at+16:])
		sym, kind := info>>32, uint32(info)
		if kind == 0 {
			continue // R_…_NONE, the same number on all machines
		}
		k, ok := kinds[kind]
		if !ok {
			return fmt.Errorf("%w: entry %d: type %d of %v is not known", ErrRelocation, at/relaSize, kind, f.Machine)
		}
		if off > uint64(len(data)) || uint64(len(data))-off < uint64(k.size) {
			return fmt.Errorf("%w: entry %d: offset %#x lies beyond the section's %#x bytes", ErrRelocation, at/relaSize, off, len(data))
		}
		if sym >= uint64(len(symbols)/symbolSize) {
			return fmt.Errorf("%w: entry %d: symbol %d of %d", ErrRelocation, at/relaSize, sym, len(symbols)/symbolSize)
		}
		v := symbolAddr(f, symbols[sym*symbolSize:], l) + addend
		if k.pcrel {
			v -= l[target]
			if !fromSection {
				v -= off
			}
		}
		if k.size == 8 {
			f.ByteOrder.PutUint64(data[off:], v)
		} else {
			f.ByteOrder.PutUint32(data[off:], uint32(v))
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

// symbolAddr returns the address of a symbol: of a relocatable object, its value
// counts from its section.
func symbolAddr(f *elf.File, symbol []byte, l Layout) uint64 {
	section := elf.SectionIndex(f.ByteOrder.Uint16(symbol[6:]))
	value := f.ByteOrder.Uint64(symbol[8:])
	if section < elf.SHN_LORESERVE && int(section) < len(l) {
		value += l[section]
	}
	return value
}
