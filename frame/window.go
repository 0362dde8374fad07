package frame

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// window reads words of a target's memory. If the memory lends its bytes
// ([target.CopiedMemory]), most words cost no call.
type window struct {
	memory  target.Memory
	copied  target.CopiedMemory  // the memory, if it is one
	running target.RunningMemory // the memory, if it is one; set by movedOn
	lo      uint64               // address of data[0]
	data    []byte
	buffer  [8]byte
	arch    *arch.Arch
	big     bool // the target is big-endian
	unasked bool // movedOn was not called yet, and running is not set; a walk that reads only lent words need not know
	late    bool // memory was read that is of another moment than the registers
}

func (w *window) start(m target.Memory, a *arch.Arch) {
	w.memory, w.lo, w.data, w.late = m, 0, nil, false
	if w.arch != a {
		w.arch, w.big = a, a.Order == binary.ByteOrder(binary.BigEndian)
	}
	w.copied, _ = m.(target.CopiedMemory)
	w.running, w.unasked = nil, true
}

// ReadMemory implements [target.Memory], for sniffers.
func (w *window) ReadMemory(addr uint64, p []byte) (n int, err error) {
	n, err = w.memory.ReadMemory(addr, p)
	w.note(addr, n)
	return n, err
}

// note sets late if any of n bytes that were read at addr is of another moment. Lent bytes
// never are.
func (w *window) note(addr uint64, n int) {
	if !w.late && n > 0 {
		w.late = w.movedOn(addr, n)
	}
}

// movedOn reports whether any of n bytes that were read at addr is of another moment.
func (w *window) movedOn(addr uint64, n int) bool {
	if w.unasked {
		w.running, _ = w.memory.(target.RunningMemory)
		w.unasked = false
	}
	return w.running != nil && w.running.MovedOn(addr, n)
}

// CallerOf implements [target.WalkedMemory], for sniffers.
func (w *window) CallerOf(pcs []uint64) (ra uint64, ok bool) {
	m, ok := w.memory.(target.WalkedMemory)
	if !ok {
		return 0, false
	}
	return m.CallerOf(pcs)
}

// takeLate reports whether memory of another moment was read since the last call of takeLate, and
// resets late.
func (w *window) takeLate() bool {
	late := w.late
	w.late = false
	return late
}

// word reads one word of the architecture's pointer size.
func (w *window) word(a *arch.Arch, addr uint64) (uint64, error) {
	size := uint64(a.PtrSize)
	addr = a.Wrap(addr)
	if w.copied != nil {
		if !w.holds(addr, size) {
			w.lo, w.data = w.copied.Window(addr)
		}
		if w.holds(addr, size) {
			return w.toWord(w.data[addr-w.lo:], size), nil
		}
	}
	p := w.buffer[:size]
	if n, err := w.ReadMemory(addr, p); n < len(p) {
		if err == nil {
			err = target.ErrUnmapped
		}
		return 0, &readError{addr, err}
	}
	return w.toWord(p, size), nil
}

func (w *window) holds(addr, size uint64) bool {
	at, n := addr-w.lo, uint64(len(w.data))
	return at < n && n-at >= size
}

func (w *window) toWord(p []byte, size uint64) uint64 {
	switch {
	case size == 8 && !w.big:
		return binary.LittleEndian.Uint64(p)
	case size == 8:
		return binary.BigEndian.Uint64(p)
	case !w.big:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return uint64(binary.BigEndian.Uint32(p))
}

// readError says which word could not be read.
type readError struct {
	addr uint64
	err  error
}

func (e *readError) Error() string {
	if errors.Is(e.err, target.ErrUnmapped) {
		return fmt.Sprintf("cannot read memory at %#x", e.addr)
	}
	return fmt.Sprintf("cannot read memory at %#x: %v", e.addr, e.err)
}

func (e *readError) Unwrap() error { return e.err }
