package unwindtables

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/cfi"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// CFI is the call frame information of a module's own file.
type CFI struct {
	// Sections are .eh_frame and .debug_frame, the one first that decides where both cover an
	// address.
	Sections []*cfi.Section
	Bias     uint64  // to add to the sections' addresses
	ABI      cfi.ABI // zero if the module cannot be read
	Err      error   // why there is no section, or why one is missing

	zero bool // code begins at address 0
}

// Dead reports whether an FDE for code at lo describes a function that the linker has left out: the
// FDE stays in .debug_frame, with the function's length and address 0.
func (s *CFI) Dead(lo uint64) bool { return lo == 0 && !s.zero }

// Function returns the code [lo, hi) of the function that an FDE has at an address, and the kind of
// the FDE's section. ok is false if there is none, or if it describes a signal trampoline: that
// begins a byte before the function.
func (s *CFI) Function(addr uint64) (lo, hi uint64, kind cfi.Kind, ok bool) {
	for _, section := range s.Sections {
		f, err := section.Find(addr - s.Bias)
		if err == nil && !s.Dead(f.Start) {
			return beginOf(section, &f) + s.Bias, f.Start + f.Len + s.Bias, section.Kind, !f.CIE.Signal
		}
	}
	return 0, 0, 0, false
}

// beginOf returns where the function of an FDE begins. In the C library's functions that begin a
// thread (clone3), an FDE of its own describes the code that the thread executes: nothing is
// outward of its frame. Little code lies between it and the FDE of the function's beginning.
func beginOf(section *cfi.Section, f *cfi.FDE) uint64 {
	const alignment, most = 16, 32 // of functions in assembly; bytes between the two
	if f.Start%alignment == 0 {
		return f.Start
	}
	row, _, _, _, err := section.RowAt(f.Start)
	if err != nil || row.Flags&trad.Outermost == 0 {
		return f.Start
	}
	before, err := section.Find(f.Start - 1)
	if err != nil {
		end, ok := section.EndBefore(f.Start - 1)
		if !ok || f.Start-end > most {
			return f.Start
		}
		if before, err = section.Find(end - 1); err != nil {
			return f.Start
		}
	}
	return before.Start
}

// CFIOf returns the call frame information of a module.
func CFIOf(m *target.Module, a *arch.Arch) *CFI {
	im, bias, err := m.Image()
	if err != nil {
		return &CFI{Err: ErrNoImage}
	}
	s := *CFIIn(im, a) // all modules of the file share what is in it
	s.Bias = bias
	return &s
}

// cfiKey is the key of an image's sections, read for an ABI.
type cfiKey struct{ abi cfi.ABI }

// CFIIn returns the call frame information of a file, with the bias 0.
func CFIIn(im *elfimage.Image, a *arch.Arch) *CFI {
	abi := cfi.ABI{Order: a.Order, PtrSize: a.PtrSize, FP: a.FP, Link: a.RA, Exchanged: a.ExchangedEH, Doubles: a.Doubles, Halves: a.Halves}
	if a.PAuth {
		abi.PC, abi.PAuth = a.PC, true
	}
	return im.Memo(cfiKey{abi}, func() any { return openCFI(im, a, abi) }).(*CFI)
}

func openCFI(im *elfimage.Image, a *arch.Arch, abi cfi.ABI) *CFI {
	s := &CFI{Err: ErrNoSection, ABI: abi, zero: hasCodeAtZero(im)}
	thunk := a.Thunks(im.ReadLoaded)
	s.add(openEH(im, abi, thunk))
	data, addr, err := im.Pages(".debug_frame")
	if err == nil {
		s.add(cfi.OpenPages(cfi.Debug, data, addr, cfi.Options{ABI: abi, Room: im.Reserve, Thunk: thunk}))
	} else {
		s.add(nil, err)
	}
	// If the two contradict each other, debuggers follow .debug_frame, which is made for them. A Go
	// program's .debug_frame is large and compressed, and describes only Go's functions. Its
	// .eh_frame describes none of these.
	if len(s.Sections) == 2 && !isGo(im) {
		slices.Reverse(s.Sections)
	}
	return s
}

func hasCodeAtZero(im *elfimage.Image) bool {
	return slices.ContainsFunc(im.ELF().Sections, func(s *elfimage.Section) bool {
		return s.Addr == 0 && s.Size > 0 && s.Flags&elf.SHF_EXECINSTR != 0
	})
}

func isGo(im *elfimage.Image) bool {
	return slices.ContainsFunc(im.ELF().Sections, func(s *elfimage.Section) bool {
		return s.Name == ".gopclntab" || s.Name == ".data.rel.ro.gopclntab"
	})
}

func (s *CFI) add(section *cfi.Section, err error) {
	switch {
	case err == nil:
		s.Sections = append(s.Sections, section)
	case errors.Is(err, elfimage.ErrBudget):
		s.Err = elfimage.ErrBudget
	}
}

// maxEHFrame bounds .eh_frame, in bytes, if only the end of the segment is known.
const maxEHFrame = 1 << 28

// openEH finds .eh_frame by name, or, in a file without section headers, by
// PT_GNU_EH_FRAME. Then it may reach to the end of its segment.
func openEH(im *elfimage.Image, abi cfi.ABI, thunk func(addr uint64) bool) (*cfi.Section, error) {
	opts := cfi.Options{ABI: abi, Room: im.Reserve, Thunk: thunk}
	if text := im.ELF().Section(".text"); text != nil {
		opts.TextBase = text.Addr
	}
	header, headerAddr, headerErr := im.SegmentPages(elf.PT_GNU_EH_FRAME)
	if headerErr == nil {
		opts.HeaderPages, opts.HeaderAddr = header, headerAddr
	}
	data, addr, err := im.Pages(".eh_frame")
	if errors.Is(err, elfimage.ErrBudget) {
		return nil, err
	}
	if err != nil {
		if headerErr != nil {
			return nil, headerErr
		}
		const most = 64 // bytes up to the address
		begin, ok := header.View(0, min(most, header.Len()))
		if !ok {
			return nil, fmt.Errorf(".eh_frame_hdr: %w", io.ErrUnexpectedEOF)
		}
		if addr, err = cfi.FrameAddress(begin, headerAddr, abi); err != nil {
			return nil, err
		}
		if data, err = im.LoadedPages(addr, maxEHFrame); err != nil {
			return nil, err
		}
	}
	return cfi.OpenPages(cfi.EH, data, addr, opts)
}
