package fromcfi

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/cfi"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/sframe"
	"github.com/sfwalk/sfwalk/sframe/object"
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
// functions of a relocatable object are at the addresses of [object.Apart]. The
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
	if len(f.Sections) == 0 {
		data, addr, err := ehFrame(f, opts.ABI)
		if err == nil {
			err = s.add(cfi.EH, data, addr, opts)
		}
		if err != nil {
			return nil, err
		}
	}
	layout := object.Apart(f)
	for _, kind := range []cfi.Kind{cfi.EH, cfi.Debug} {
		for i, section := range f.Sections {
			// Separate debug files have the headers of sections without their bytes.
			if section.Name != kind.String() || section.Type == elf.SHT_NOBITS {
				continue
			}
			if kind == cfi.Debug {
				layout[i] = section.Addr // what refers to it are offsets in it, even before linking
			}
			data, err := object.Data(f, section, layout)
			if err != nil {
				return nil, err
			}
			if err := s.add(kind, data, layout[i], opts); err != nil {
				return nil, err
			}
		}
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

// maxSegment is the size in bytes of the largest segment that is read.
const maxSegment uint64 = 1 << 31

// ehFrame finds .eh_frame by segment. It may reach to the end of the segment that
// holds it: the terminator ends it.
func ehFrame(f *elf.File, abi cfi.ABI) (data []byte, addr uint64, err error) {
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

// segment reads the bytes of a segment from addr on. What the header says of its
// size is believed as far as there are bytes.
func segment(p *elf.Prog, addr uint64) ([]byte, error) {
	skip := addr - p.Vaddr
	size := p.Filesz - skip
	if size > maxSegment {
		return nil, fmt.Errorf("segment at %#x: %#x bytes, want at most %#x", p.Vaddr, size, maxSegment)
	}
	data, err := elffile.ReadNext(io.NewSectionReader(p, int64(skip), int64(size)), size)
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("read segment at %#x: %w", p.Vaddr, err)
	}
	if uint64(len(data)) != size {
		return nil, fmt.Errorf("read segment at %#x: %#x bytes from %#x on, want %#x", p.Vaddr, len(data), skip, size)
	}
	return data, nil
}
