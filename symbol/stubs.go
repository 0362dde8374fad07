package symbol

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/dwarfdata"
)

// stubs are the entries of the procedure linkage table: code that jumps to a function of
// another module. They have no symbols. GDB shows them as "printf@plt".
type stubs struct {
	sections []stubSection
	names    []byte          // string table
	slots    map[uint64]slot // by address in the global offset table
}

// slot is an entry of the global offset table: the address of a symbol, or, where it has
// no name, the address that the resolver of an IFUNC returns.
type slot struct {
	name     uint32 // offset in names
	resolver uint64 // 0 for a symbol
}

type stubSection struct {
	addr uint64
	code []byte
}

// stubSize is the least size of a stub, in bytes: stubs begin at multiples of it. Those
// of .plt.got have eight bytes where they have no endbr64, the others sixteen.
const stubSize = 8

const symbolSize = 24 // of ELFCLASS64, the null symbol first

// readStubs reads an amd64 file's stubs.
func readStubs(im *elfimage.Image) (*stubs, error) {
	if im.Machine != elf.EM_X86_64 {
		return nil, nil
	}
	s := &stubs{}
	for _, name := range []string{".plt", ".plt.sec", ".plt.got"} {
		code, addr, err := im.Section(name)
		if err == nil {
			s.sections = append(s.sections, stubSection{addr, code})
		} else if !errors.Is(err, elfimage.ErrNoSection) {
			return nil, err
		}
	}
	if len(s.sections) == 0 {
		return nil, nil
	}
	symbols, _, err := im.SectionType(elf.SHT_DYNSYM)
	if err != nil && !errors.Is(err, elfimage.ErrNoSection) {
		return nil, err
	}
	if len(symbols) < 2*symbolSize {
		return nil, nil // a static program: GDB does not name its stubs
	}
	if s.names, _, err = im.Section(".dynstr"); err != nil {
		return nil, err
	}
	s.slots = make(map[uint64]slot)
	for _, name := range []string{".rela.plt", ".rela.dyn"} {
		relocations, _, err := im.Section(name)
		if errors.Is(err, elfimage.ErrNoSection) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s.readSlots(im.Order, relocations, symbols)
	}
	return s, nil
}

// readSlots notes the entries of the global offset table that the relocations of a section fill in.
func (s *stubs) readSlots(order binary.ByteOrder, relocations, symbols []byte) {
	const relocationSize = 24
	for ; len(relocations) >= relocationSize; relocations = relocations[relocationSize:] {
		info := order.Uint64(relocations[8:])
		switch at := order.Uint64(relocations); elf.R_X86_64(uint32(info)) {
		case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT:
			n := info >> 32
			if n > 0 && n < uint64(len(symbols)/symbolSize) {
				s.slots[at] = slot{name: order.Uint32(symbols[n*symbolSize:])}
			}
		case elf.R_X86_64_IRELATIVE:
			if resolver := order.Uint64(relocations[16:]); resolver != 0 { // 0 would be a symbol's slot
				s.slots[at] = slot{resolver: resolver}
			}
		}
	}
}

// find returns the name of the stub that holds addr, and where it begins.
func (s *stubs) find(addr uint64) (name string, start uint64, ok bool) {
	if s == nil {
		return "", 0, false
	}
	for _, sec := range s.sections {
		if addr < sec.addr || addr-sec.addr >= uint64(len(sec.code)) {
			continue
		}
		// A stub has 16 bytes, or 8.
		at := (addr - sec.addr) &^ (stubSize - 1)
		for range 2 {
			if slot, ok := jumpSlot(sec.code[at:min(at+16, uint64(len(sec.code)))], sec.addr+at); ok {
				name, ok := s.name(slot)
				return name, sec.addr + at, ok
			}
			if at%16 == 0 {
				break
			}
			at -= stubSize
		}
	}
	return "", 0, false
}

// name returns the name of the stub that jumps through an entry of the global
// offset table.
func (s *stubs) name(at uint64) (name string, ok bool) {
	to, ok := s.slots[at]
	if !ok {
		return "", false
	}
	if to.resolver != 0 {
		return fmt.Sprintf("*ABS*+%#x@plt", to.resolver), true
	}
	name, ok = stringAt(s.names, uint64(to.name))
	return name + "@plt", ok && name != ""
}

// jumpSlot returns the entry of the global offset table that a stub at addr
// jumps through: [endbr64] [bnd] jmp *disp(%rip).
func jumpSlot(code []byte, addr uint64) (slot uint64, ok bool) {
	at := 0
	if len(code) >= 4 && string(code[:4]) == "\xf3\x0f\x1e\xfa" {
		at = 4
	}
	if len(code) > at && code[at] == 0xf2 {
		at++
	}
	if len(code) < at+6 || code[at] != 0xff || code[at+1] != 0x25 {
		return 0, false
	}
	disp := int32(binary.LittleEndian.Uint32(code[at+2:]))
	return addr + uint64(at+6) + uint64(int64(disp)), true
}

// stringAt returns the string at an offset of a string section.
func stringAt(section []byte, off uint64) (s string, ok bool) {
	if off > uint64(len(section)) {
		return "", false
	}
	r := dwarfdata.New(section[off:], nil)
	s = r.String()
	return s, !r.Bad
}
