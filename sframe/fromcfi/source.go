package fromcfi

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/cfi"
	"github.com/sfwalk/sfwalk/sframe"
	"github.com/sfwalk/sfwalk/trad"
)

// Errors of Open and ABIOf; test with errors.Is.
var (
	// ErrMachine: SFrame has no ABI for the file's machine.
	ErrMachine = errors.New("SFrame has no ABI for this machine")
	// ErrNoCFI: the file has neither .eh_frame nor .debug_frame.
	ErrNoCFI = errors.New("no .eh_frame and no .debug_frame")
)

// A Source is a file's call frame information. It counts the work that
// expressions are, and is to be used by one goroutine at a time.
type Source struct {
	ABI sframe.ABI
	// Sections hold the information. Where two speak of the same code, the first
	// counts.
	Sections []*cfi.Section

	work int // spent on expressions, see maxWork
}

// ABIOf returns the SFrame ABI for an ELF header. The error wraps ErrMachine.
func ABIOf(h *elf.FileHeader) (sframe.ABI, error) {
	if h.Class == elf.ELFCLASS64 {
		big := h.Data == elf.ELFDATA2MSB
		switch {
		case h.Machine == elf.EM_X86_64 && !big:
			return sframe.AMD64, nil
		case h.Machine == elf.EM_AARCH64 && !big:
			return sframe.AArch64LE, nil
		case h.Machine == elf.EM_AARCH64:
			return sframe.AArch64BE, nil
		case h.Machine == elf.EM_S390 && big:
			return sframe.S390X, nil
		}
	}
	return 0, fmt.Errorf("%w: %v, %v, %v; want x86-64, AArch64 or s390x with 64 bits", ErrMachine, h.Machine, h.Class, h.Data)
}

// Open finds the call frame information of a file: .eh_frame by name, or through
// PT_GNU_EH_FRAME in a file without section headers, then .debug_frame. The
// error wraps ErrMachine or ErrNoCFI, or says what cannot be read.
func Open(f *elf.File) (*Source, error) {
	abi, err := ABIOf(&f.FileHeader)
	if err != nil {
		return nil, err
	}
	s := &Source{ABI: abi}
	opts := cfi.Options{ABI: cfi.ABI{
		Order: f.ByteOrder, PtrSize: 8, FP: trad.Reg(abi.FP()),
		PAuth: f.Machine == elf.EM_AARCH64,
	}}
	data, addr, err := ehFrame(f, opts.ABI)
	if err != nil {
		return nil, err
	}
	if err := s.add(cfi.EH, data, addr, opts); err != nil {
		return nil, err
	}
	data, addr, err = section(f, ".debug_frame")
	if err != nil {
		return nil, err
	}
	if err := s.add(cfi.Debug, data, addr, opts); err != nil {
		return nil, err
	}
	if len(s.Sections) == 0 {
		return nil, ErrNoCFI
	}
	return s, nil
}

func (s *Source) add(kind cfi.Kind, data []byte, addr uint64, opts cfi.Options) error {
	if len(data) == 0 {
		return nil
	}
	c, err := cfi.Open(kind, data, addr, opts)
	if err != nil {
		return fmt.Errorf("open %v: %w", kind, err)
	}
	s.Sections = append(s.Sections, c)
	return nil
}

// maxSection is the size in bytes of the largest section that is read.
const maxSection uint64 = 1 << 31

// section returns the bytes and the address of a section, none if the file has
// no such section or only its header, as separate debug files do.
func section(f *elf.File, name string) (data []byte, addr uint64, err error) {
	s := f.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, 0, nil
	}
	if s.Size > maxSection {
		return nil, 0, fmt.Errorf("section %s: %#x bytes, want at most %#x", name, s.Size, maxSection)
	}
	if data, err = s.Data(); err != nil {
		return nil, 0, fmt.Errorf("read section %s: %w", name, err)
	}
	return data, s.Addr, nil
}

// ehFrame finds .eh_frame. Without section headers it may reach to the end of
// its segment: the terminator ends it.
func ehFrame(f *elf.File, abi cfi.ABI) (data []byte, addr uint64, err error) {
	if len(f.Sections) > 0 {
		return section(f, ".eh_frame")
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		header, err := segment(p, p.Vaddr)
		if err != nil {
			return nil, 0, err
		}
		if addr, err = cfi.FrameAddress(header, p.Vaddr, abi); err != nil {
			return nil, 0, fmt.Errorf("read PT_GNU_EH_FRAME: %w", err)
		}
		for _, load := range f.Progs {
			if load.Type == elf.PT_LOAD && addr-load.Vaddr < load.Filesz {
				data, err := segment(load, addr)
				return data, addr, err
			}
		}
		return nil, 0, fmt.Errorf("PT_GNU_EH_FRAME names %#x as the address of .eh_frame, where no segment is", addr)
	}
	return nil, 0, nil
}

// segment reads the bytes of a segment from addr on.
func segment(p *elf.Prog, addr uint64) ([]byte, error) {
	skip := addr - p.Vaddr
	size := p.Filesz - skip
	if size > maxSection {
		return nil, fmt.Errorf("segment at %#x: %#x bytes, want at most %#x", p.Vaddr, size, maxSection)
	}
	return readFull(p, skip, size)
}
