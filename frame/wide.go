package frame

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// WideUnwinder is an Unwinder that knows registers wider than 64 bits (arch.Arch.WideRegs) of
// PREVIOUS in their full width.
type WideUnwinder interface {
	Unwinder
	// PrevWide returns the bytes of a register in PREVIOUS, as it would lie in memory. ok is false
	// if the sniffer does not know them: then PrevRegister's value counts.
	PrevWide(this *Frame, r trad.Reg) (b []byte, ok bool)
}

// WideRegister returns the bytes of a wide register (arch.Arch.WideRegs) as THIS frame sees it, as
// it would lie in memory. They may be fewer than the register has: the ABI lets a callee preserve
// the first 64 bits alone, and inner frames save no more. The error says that the register is not
// wide, or its value not known, and why. The caller may change the bytes.
//
// Frame 0 needs a thread that is a [target.WideThread].
func (f *Frame) WideRegister(r trad.Reg) ([]byte, error) {
	a := f.Stack().arch
	w := a.Wide(r)
	if w == nil {
		return nil, fmt.Errorf("%s has no wide register with number %d", a.Name, r)
	}
	var b []byte
	err := errOutdated
	if !f.outdated() {
		b, err = f.wide(r, w.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("frame %d: register %s: %w", f.Level, w.Name, err)
	}
	return b, nil
}

// ErrLost says that a register is lost: no inner frame has saved it. Errors of [Frame.WideRegister]
// wrap it.
var ErrLost = errors.New("it is lost")

// Reasons of wide.
var (
	errNoWide  = errors.New("the thread gives no wide registers")
	errLost    = fmt.Errorf("%w: the call that the frame makes may have changed it", ErrLost)
	errUnknown = errors.New("nothing says where the inner frames have saved it")
)

// wide goes inward through the frames that have not changed the register, as prevRegister does.
// size is how many bytes of the register may be known.
func (f *Frame) wide(r trad.Reg, size int) ([]byte, error) {
	for f.Level > 0 {
		next := f.inner()
		if u, ok := next.unwinder(); ok {
			if w, ok := u.(WideUnwinder); ok {
				if b, ok := w.PrevWide(next, r); ok {
					return append([]byte(nil), b[:min(size, len(b))]...), nil
				}
			}
		}
		if !next.interrupts() {
			size = min(size, 8)
		}
		if next.dropped {
			v, _ := next.known(r)
			return wideValue(v, size, f.stack)
		}
		v, known := next.byItsUnwinder(r)
		if !known {
			var reg trad.Reg
			var inward bool
			if reg, v, inward = next.applyRule(r); inward && reg == r {
				f = next
				continue
			} else if inward {
				v = next.Register(reg)
			}
		}
		return wideValue(v, size, f.stack)
	}
	t, ok := f.stack.thread.(target.WideThread)
	if !ok {
		return nil, errNoWide
	}
	b, err := target.ReadWide(t, f.stack.arch.Wide(r))
	return b[:min(size, len(b))], err
}

// wideValue returns the bytes that are known by the value of the register's 64 bits.
func wideValue(v Value, size int, s *Stack) ([]byte, error) {
	b := make([]byte, 8)
	switch {
	case v.Lval == NotSaved:
		return nil, errLost
	case v.Err != nil:
		return nil, v.Err
	case !v.Known():
		return nil, errUnknown
	case v.Lval == InMemory:
		if n, err := s.window.ReadMemory(v.Addr, b); n < len(b) {
			return nil, errors.Join(fmt.Errorf("cannot read memory at %#x", v.Addr), err)
		}
	default:
		s.arch.Order.PutUint64(b, v.Bits)
	}
	return b[:min(size, len(b))], nil
}
