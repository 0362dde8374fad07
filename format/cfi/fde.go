package cfi

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// FDE is a frame description entry: the call frame information of one stretch
// of code (DWARF 5, section 6.4.1).
type FDE struct {
	Offset int    // in bytes from the start of the section
	Start  uint64 // address of the first byte of code
	Len    uint64 // bytes of code, at most 64 GiB; Start+Len does not overflow
	CIE    CIE

	program span
}

// maxLen bounds the code of an FDE in bytes. Thereby it bounds the number of rows that one
// line is split into.
const maxLen = 1 << 36

// Contains reports whether the FDE covers pc.
func (f *FDE) Contains(pc uint64) bool { return pc-f.Start < f.Len }

// ProgramSize returns the size of the FDE's instructions in bytes. Each instruction has at least
// one byte.
func (f *FDE) ProgramSize() int { return f.program.to - f.program.from }

// Instructions returns the initial instructions of the CIE of f, an FDE of this section, and the
// FDE's own (DWARF 5, section
// 6.4.2). They must not be changed.
func (s *Section) Instructions(f *FDE) (initial, own []byte) {
	if !s.has(f.CIE.program) || !s.has(f.program) {
		return nil, nil
	}
	initial, _ = s.pages.View(f.CIE.program.from, f.CIE.program.to)
	own, _ = s.pages.View(f.program.from, f.program.to)
	return initial, own
}

// parseFDE reads the FDE with the head e into f. haveCIE says that f holds another FDE: if both
// have the same CIE, parseFDE does not read it again.
func (s *Section) parseFDE(e entry, f *FDE, haveCIE bool) error {
	if e.empty || e.cie < 0 {
		return s.entryError(e.off, "is not an FDE, where one is expected")
	}
	if p := s.preparedAt(e.cie).Load(); p != nil && p.cie.Offset == e.cie {
		f.CIE = p.cie
	} else if !haveCIE || f.CIE.Offset != e.cie {
		f.CIE.Offset = -1
		if err := s.parseCIE(e.cie, &f.CIE); err != nil {
			f.CIE.Offset = -1
			return fmt.Errorf("%w (of the FDE at %#x)", err, e.off)
		}
	}
	f.Offset = e.off
	if s.usualFDE(e, f) {
		return nil
	}
	c := s.reader(e.body, e.end)
	at := c.at()
	fail := func(what, reason string) error {
		return &Error{s.Kind, "FDE", e.off, what, at, reason, ErrMalformed}
	}
	var why string
	enc := f.CIE.encoding
	if f.Start, why = s.pointer(&c, enc, f.CIE.PtrSize, 0, false); why != "" {
		return fail("start address", why)
	}
	// The length has the start's format, but no base, and it is not signed.
	at = c.at()
	length := enc & encFormat
	if enc == encAligned {
		length = encAbsptr
	} else if length&encSigned != 0 && length != encSLEB128 {
		length &^= encSigned
	}
	if f.Len, why = offset(&c.Reader, length, f.CIE.PtrSize); why != "" {
		return fail("length of code", why)
	}
	if f.Len > maxLen {
		return fail("length of code", fmt.Sprintf("is %#x bytes, want at most %#x", f.Len, uint64(maxLen)))
	}
	if mask := addressMask(f.CIE.PtrSize); f.Len > mask-f.Start {
		return fail("length of code", fmt.Sprintf("%#x bytes at %#x run past the end of the address space", f.Len, f.Start))
	}
	if f.CIE.sized {
		at = c.at()
		if n := c.ULEB128(); c.Take(n) == nil {
			return fail("augmentation data", truncated)
		}
	}
	f.program = span{c.at(), e.end}
	return nil
}

// usualFDE reads an FDE, whose CIE f has, if it is as nearly all are that linkers for little-endian
// machines write: the start is an sdata4 that is relative to itself, and few bytes of augmentation
// data have a size. It takes half the time of parseFDE.
func (s *Section) usualFDE(e entry, f *FDE) bool {
	const fixed = 4 + 4 + 1 // start, length, size of augmentation data
	var p []byte
	if !s.paged {
		p = s.data[e.body:e.end]
	} else {
		p, _ = s.pages.View(e.body, min(e.body+fixed+0x80, e.end))
	}
	if f.CIE.encoding != encPCrel|encSdata4 || !f.CIE.sized || s.big || len(p) < fixed || p[8] >= 0x80 || len(p) < fixed+int(p[8]) {
		return false
	}
	mask := addressMask(f.CIE.PtrSize)
	start := (s.addr + uint64(e.body) + uint64(int64(int32(binary.LittleEndian.Uint32(p))))) & mask
	size := uint64(binary.LittleEndian.Uint32(p[4:]))
	if size > mask-start {
		return false
	}
	f.Start, f.Len, f.program = start, size, span{e.body + fixed + int(p[8]), e.end}
	return true
}

// FDEs iterates over the FDEs in the order of the section. An FDE that cannot be read gives
// an error, and the iteration goes on. If the chain of entries itself is broken, the
// iteration ends after the error.
func (s *Section) FDEs() iter.Seq2[FDE, error] {
	return func(yield func(FDE, error) bool) {
		var f FDE
		w := walk{s: s}
		for {
			more, err := w.next(&f)
			if !more {
				return
			}
			if err != nil {
				if !yield(FDE{}, err) {
					return
				}
			} else if !yield(f, nil) {
				return
			}
		}
	}
}

// walk steps from FDE to FDE.
type walk struct {
	s       *Section
	off     int
	haveCIE bool
	// A zero terminator was read. More entries may follow it. If the caller did not know the
	// section's size, other data may follow instead.
	terminated bool
}

// next reads the next FDE. more is false at the end of the section.
func (w *walk) next(f *FDE) (more bool, err error) {
	s := w.s
	for w.off < s.size {
		if s.size-w.off < 4 {
			if rest, ok := s.pages.View(w.off, s.size); ok && allZero(rest) {
				break
			}
		}
		e, err := s.entryAt(w.off)
		if err != nil {
			if e.end > w.off {
				w.off = e.end
			} else {
				w.off = s.size
			}
			if w.terminated {
				break
			}
			return true, err
		}
		w.off = e.end
		if e.empty {
			w.terminated = true
			continue
		}
		if e.cie < 0 {
			continue
		}
		err = s.parseFDE(e, f, w.haveCIE)
		w.haveCIE = f.CIE.Offset >= 0
		if err != nil && w.terminated {
			break
		}
		return true, err
	}
	w.off = s.size
	return false, nil
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
