package unwindtables

import (
	"debug/elf"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/exidx"
	"github.com/sfwalk/sfwalk/target"
)

// ptARMExidx is PT_ARM_EXIDX, the segment that is .ARM.exidx (ELF for the Arm Architecture).
const ptARMExidx = elf.ProgType(0x70000001)

// exceptions is the index of a file.
type exceptions struct {
	*exidx.Section
	err error
}

type exceptionsKey struct{}

// ExceptionsOf returns the index of exception tables of a module of 32-bit Arm, and what to add to
// its addresses. The error is ErrNoImage, ErrNoSection or ErrBroken.
func ExceptionsOf(m *target.Module) (*exidx.Section, uint64, error) {
	im, bias, err := m.Image()
	if err != nil {
		return nil, 0, ErrNoImage
	}
	x := im.Memo(exceptionsKey{}, func() any { return openExceptions(im) }).(*exceptions)
	return x.Section, bias, x.err
}

func openExceptions(im *elfimage.Image) *exceptions {
	if a := arch.ByMachine(im.Machine, nil); a == nil || !a.ExceptionTables {
		return &exceptions{err: ErrNoSection}
	}
	data, addr, err := im.Segment(ptARMExidx)
	if err != nil { // objects that are not linked have no segments
		data, addr, err = im.Section(".ARM.exidx")
	}
	if err != nil {
		return &exceptions{err: ErrNoSection}
	}
	s, err := exidx.Open(data, addr, im.Order, func(addr uint64, p []byte) (int, error) { return im.ReadLoaded(addr, p), nil })
	if err != nil {
		return &exceptions{err: ErrBroken}
	}
	return &exceptions{Section: s}
}
