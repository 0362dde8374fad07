package unwindtables

import (
	"debug/elf"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/exidx"
	"github.com/sfwalk/sfwalk/target"
)

// ptARMExidx is PT_ARM_EXIDX, the segment that is .ARM.exidx (ELF for the Arm Architecture).
const ptARMExidx = elf.ProgType(0x70000001)

// Exceptions is the index of exception tables of a file of 32-bit Arm.
type Exceptions struct {
	*exidx.Section

	image *elfimage.Image
	err   error
}

type exceptionsKey struct{}

// ExceptionsOf returns the index of a module, and what to add to its addresses. The error is
// ErrNoImage, ErrNoSection or ErrBroken.
func ExceptionsOf(m *target.Module) (*exidx.Section, uint64, error) {
	im, bias, err := m.Image()
	if err != nil {
		return nil, 0, ErrNoImage
	}
	x, err := ExceptionsIn(im)
	if err != nil {
		return nil, 0, err
	}
	return x.Section, bias, nil
}

// ExceptionsIn returns the index of a file. The error is ErrNoSection or ErrBroken.
func ExceptionsIn(im *elfimage.Image) (*Exceptions, error) {
	x := im.Memo(exceptionsKey{}, func() any { return openExceptions(im) }).(*Exceptions)
	return x, x.err
}

func openExceptions(im *elfimage.Image) *Exceptions {
	if a := arch.ByMachine(im.Machine, nil); a == nil || !a.ExceptionTables {
		return &Exceptions{err: ErrNoSection}
	}
	data, addr, err := im.Segment(ptARMExidx)
	if err != nil { // objects that are not linked have no segments
		data, addr, err = im.Section(".ARM.exidx")
	}
	if err != nil {
		return &Exceptions{err: ErrNoSection}
	}
	s, err := exidx.Open(data, addr, im.Order, func(addr uint64, p []byte) (int, error) { return im.ReadLoaded(addr, p), nil })
	if err != nil {
		return &Exceptions{err: ErrBroken}
	}
	return &Exceptions{Section: s, image: im}
}

// maxSearched bounds the code of an entry that is searched for the beginnings of functions, bytes.
const maxSearched = 64 << 10

// Function returns the code [lo, hi) of the entry that covers an address, if it is certain that it
// is one function's. Linkers leave out an entry that is equal to the one before it, if the
// instructions are in the index; and an entry that cannot be unwound may cover any code. Functions
// of which equal entries are true begin alike: they save the link register.
func (x *Exceptions) Function(addr uint64) (lo, hi uint64, ok bool) {
	e, err := x.Find(addr)
	if err != nil || e.CantUnwind || e.Hi == 1<<32 {
		return 0, 0, false
	}
	const thumb = 1 // of addresses, says that the code is Thumb
	lo, hi = e.Lo&^thumb, e.Hi&^thumb
	if !e.Inline {
		return lo, hi, true
	}
	if hi-lo > maxSearched {
		return 0, 0, false
	}
	code := make([]byte, hi-lo)
	code = code[:x.image.ReadLoaded(lo, code)]
	return lo, hi, savesLink(code) == 1
}

// savesLink counts the instructions that push the link register, for Arm and for Thumb code, since
// nothing tells which of them the code is.
func savesLink(code []byte) (n int) {
	const link = 1 << 14
	for at := 0; at+4 <= len(code); at += 4 {
		op := binary.LittleEndian.Uint32(code[at:])
		push, str := op>>16 == 0xe92d && op&link != 0, op>>12 == 0xe52de // {…, lr}; lr, [sp, #-n]!
		if push || str {
			n++
		}
	}
	for at := 0; at+2 <= len(code); at += 2 {
		half, next := binary.LittleEndian.Uint16(code[at:]), uint16(0)
		if at+4 <= len(code) {
			next = binary.LittleEndian.Uint16(code[at+2:])
		}
		switch {
		case half>>8 == 0xb5, half == 0xe92d && next&link != 0, half == 0xf84d && next>>8 == 0xed:
			n++
		}
		if half>>11 >= 0x1d { // an instruction of 32 bits
			at += 2
		}
	}
	return n
}
