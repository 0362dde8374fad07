package fromcfi

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"

	"github.com/sfwalk/sfwalk/format/cfi"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/object"
	"github.com/sfwalk/sfwalk/trad"
)

// Errors of Open and ABIOf; test with errors.Is.
var (
	// ErrMachine means that SFrame has no ABI for the file's machine.
	ErrMachine = errors.New("SFrame has no ABI for this machine")
	// ErrNoCFI means that the file has neither .eh_frame nor .debug_frame.
	ErrNoCFI = errors.New("no .eh_frame and no .debug_frame")
)

// A Source is a file's call frame information. It counts the work on
// expressions, and only one goroutine may use it at a time.
type Source struct {
	ABI sframe.ABI
	// Sections hold the information. If two cover the same code, the first counts.
	Sections []*cfi.Section
	// MaxRows bounds the rows of all functions together, 0 for no bound: tables may be compressed.
	MaxRows int

	rows int
	work int // spent on expressions, see maxWork
}

// abis are the SFrame ABIs of ELF files of 64 bits (SFrame V3, section 2.2.1).
var abis = map[elf.Machine]map[elf.Data]sframe.ABI{
	elf.EM_X86_64:  {elf.ELFDATA2LSB: sframe.AMD64},
	elf.EM_AARCH64: {elf.ELFDATA2LSB: sframe.AArch64LE, elf.ELFDATA2MSB: sframe.AArch64BE},
	elf.EM_S390:    {elf.ELFDATA2MSB: sframe.S390X},
}

// ABIOf returns the SFrame ABI for an ELF header. The error wraps ErrMachine.
func ABIOf(h *elf.FileHeader) (sframe.ABI, error) {
	if abi, ok := abis[h.Machine][h.Data]; ok && h.Class == elf.ELFCLASS64 {
		return abi, nil
	}
	return 0, fmt.Errorf("%w: %v, %v, %v; want x86-64, AArch64 or s390x with 64 bits", ErrMachine, h.Machine, h.Class, h.Data)
}

// Open finds the call frame information of a file: first .eh_frame, then .debug_frame. It finds
// them by name; in a file without section headers it finds .eh_frame through PT_GNU_EH_FRAME. The
// functions of a relocatable object are at the addresses of [object.Apart]. Rows that compilers get
// wrong behind thunks are right: see [cfi.Options].Thunk. The error wraps ErrMachine or ErrNoCFI,
// or says what cannot be read.
func Open(im *elfimage.Image) (*Source, error) {
	f := im.ELF()
	abi, err := ABIOf(&f.FileHeader)
	if err != nil {
		return nil, err
	}
	s, layout := &Source{ABI: abi, MaxRows: int(min(1<<20+im.SizeOnDisk()/2, math.MaxInt32))}, object.Apart(im)
	opts := cfi.Options{ABI: cfi.ABI{
		Order: f.ByteOrder, PtrSize: 8, FP: trad.Reg(abi.FP()),
		PAuth: abi == sframe.AArch64LE || abi == sframe.AArch64BE,
	}, Thunk: thunksOf(im, layout)}
	if len(f.Sections) == 0 {
		data, addr, err := ehFrame(im, opts.ABI)
		if err == nil {
			err = s.add(cfi.EH, data, addr, opts)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, kind := range []cfi.Kind{cfi.EH, cfi.Debug} {
		for i, section := range f.Sections {
			// Separate debug files have the headers of sections without their bytes.
			if section.Name != kind.String() || section.Type == elf.SHT_NOBITS {
				continue
			}
			if kind == cfi.Debug {
				layout[i] = section.Addr // references to it are offsets in it, even before linking
			}
			data, err := object.Data(im, section, layout)
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

// maxEHFrame bounds the bytes read of .eh_frame if only the segment tells its end.
const maxEHFrame = 1 << 31

// ehFrame finds .eh_frame by segment. data may reach to the end of the segment that holds it,
// beyond the terminator that ends .eh_frame.
func ehFrame(im *elfimage.Image, abi cfi.ABI) (data []byte, addr uint64, err error) {
	header, at, err := im.Segment(elf.PT_GNU_EH_FRAME)
	if errors.Is(err, elfimage.ErrNoSection) {
		return nil, 0, nil
	}
	if err == nil {
		addr, err = cfi.FrameAddress(header, at, abi)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read PT_GNU_EH_FRAME: %w", err)
	}
	if data = im.Loaded(addr, maxEHFrame); data == nil {
		return nil, 0, fmt.Errorf("PT_GNU_EH_FRAME names %#x as the address of .eh_frame, where no segment has bytes", addr)
	}
	return data, addr, nil
}
