package unwindtables

import (
	"errors"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/pages"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/target"
)

// Errors of SFrame sections that cannot be used. A section that is left out has elf.ErrBudget.
var (
	ErrNoImage    = errors.New("the module's file cannot be read")
	ErrNoSection  = errors.New("the module has no such section")
	ErrBroken     = errors.New("the section is malformed or of an unknown version")
	ErrOnlyJoined = errors.New("the linker has only put the parts of the section one behind the other, which leaves wrong addresses in this version")
	ErrWrongABI   = errors.New("the section is for another architecture")
)

// SFrame is an open SFrame section. If there is none that can be used, its Section field is nil.
type SFrame struct {
	*sframe.Section
	Bias uint64 // to add to the section's addresses
	Err  error  // why Section is nil

	parts []part // all of a section that has several; Section is the first of the file then
}

// Joined reports whether the section has several parts, which a linker has put one behind the
// other.
func (s *SFrame) Joined() bool { return s.parts != nil }

// Function returns the code [lo, hi) of the FDE that covers an address. ok is false if there is
// none, or if it describes a signal trampoline, or code that repeats: linkage stubs.
func (s *SFrame) Function(addr uint64) (lo, hi uint64, ok bool) {
	if s.Section == nil {
		return 0, 0, false
	}
	f, err := s.FindFDE(addr - s.Bias)
	lo = f.Start + s.Bias
	return lo, lo + uint64(f.Size), err == nil && !f.Signal && f.PCType != sframe.PCMask
}

// sframeKey is the key of an image's section, read for an architecture.
type sframeKey struct{ arch string }

// SFrameOf returns the SFrame section in a module's own file, if it is for the architecture a.
func SFrameOf(m *target.Module, a *arch.Arch) SFrame {
	im, bias, err := m.Image()
	if err != nil {
		return SFrame{Err: ErrNoImage}
	}
	// All modules of the file share what is in it.
	s := *SFrameIn(im, a)
	s.Bias = bias
	return s
}

// SFrameIn returns the section of an image, with the bias 0.
func SFrameIn(im *elf.Image, a *arch.Arch) *SFrame {
	return im.Memo(sframeKey{a.Name}, func() any {
		data, addr, err := im.SFramePages()
		s := OpenSFrame(data, addr, err, a)
		return &s
	}).(*SFrame)
}

// OpenSFrame opens a section that was read, or could not be read for err.
func OpenSFrame(data *pages.Bytes, addr uint64, err error, a *arch.Arch) SFrame {
	if errors.Is(err, elf.ErrBudget) {
		return SFrame{Err: elf.ErrBudget}
	}
	if err != nil {
		return SFrame{Err: ErrNoSection}
	}
	list, _ := sframe.OpenPages(data, addr)
	if len(list) == 0 {
		return SFrame{Err: ErrBroken}
	}
	if len(list) > 1 {
		list = slices.DeleteFunc(list, func(p *sframe.Section) bool { return p.Flags&sframe.FDEFuncStartPCRel == 0 })
	}
	if len(list) == 0 {
		return SFrame{Err: ErrOnlyJoined}
	}
	s := list[0]
	if of := arch.BySFrameABI(uint8(s.ABI)); of == nil || of.Name != a.Name {
		return SFrame{Err: ErrWrongABI}
	}
	list = slices.DeleteFunc(list, func(p *sframe.Section) bool { return p.ABI != s.ABI })
	return SFrame{Section: s, parts: newParts(list)}
}
