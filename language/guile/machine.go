package guile

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/trad"
)

// Offsets in struct scm_vm of vm.h, which is the same in all releases of 3.0, and in a frame of the
// virtual machine's stack (frames.h), bytes.
const (
	machineIP        = 0
	machineSP        = 8
	machineFP        = 16
	machineSize      = 40 // of the stack, words
	machineBottom    = 48
	machineTop       = 88
	machineRegisters = 104 // a jmp_buf in the innermost frame of scm_call_n

	threadMachine = 8 // struct scm_thread of threads.h

	frameReturn = 8  // the address in bytecode at which the caller goes on
	frameLink   = 16 // how many words the caller's frame is further out
)

// mostWords bounds the words of a frame of scm_call_n that are looked at.
const mostWords = 128

// mostStack bounds how far out on the C stack the innermost scm_call_n may be, bytes.
const mostStack = 64 << 20

// machine returns the address of the virtual machine of a thread; 0 if there is none. It is in a
// register or on the stack of scm_call_n, and in a register of code that Guile has compiled.
func (r *runtime) machine(m *structs.Reader, s *language.Stack, levels []int) uint64 {
	defer m.Err()
	sp := s.Frames[0].Register(s.Arch.SP)
	if !sp.Known() {
		return 0
	}
	lo, hi := sp.Bits, sp.Bits+mostStack
	if len(levels) > 0 {
		lo, hi = part(s, levels[0])
	}
	for _, level := range levels {
		if at := r.machineOf(m, s, level, lo, hi); at != 0 {
			return at
		}
	}
	if s.Whole {
		return 0
	}
	for level := range s.Frames {
		if at := r.machineOf(m, s, level, lo, hi); at != 0 {
			return at
		}
	}
	return 0
}

// machineOf returns the address of a virtual machine that a frame has; 0 if it has none. The
// machine's registers are on the stack from lo to hi.
func (r *runtime) machineOf(m *structs.Reader, s *language.Stack, level int, lo, hi uint64) uint64 {
	f := s.Frames[level]
	for reg := range trad.Reg(len(s.Arch.Regs)) {
		if v := f.Register(reg); s.Arch.CalleeSaved.Has(reg) && v.Known() {
			if at := r.check(m, v.Bits, lo, hi); at != 0 {
				return at
			}
		}
	}
	begin, end := part(s, level)
	for at := begin; at < min(end, begin+8*mostWords); at += 8 {
		if at := r.check(m, m.Pointer(at), lo, hi); at != 0 {
			return at
		}
	}
	return 0
}

// part returns a frame's part of the stack; nothing if it is not known.
func part(s *language.Stack, level int) (lo, hi uint64) {
	sp := s.Frames[level].Register(s.Arch.SP)
	cfa, ok := s.Frames[level].CFA()
	if !ok || !sp.Known() {
		return 0, 0
	}
	return sp.Bits, cfa
}

// check returns the address of the virtual machine that an address is of, or whose thread it is of;
// 0 if there is none, or it is another thread's: its registers are on the stack from lo to hi.
func (r *runtime) check(m *structs.Reader, at, lo, hi uint64) uint64 {
	if at < 1<<12 || at%8 != 0 {
		return 0
	}
	for _, at := range []uint64{at, at + threadMachine} {
		top, bottom, size := m.Pointer(at+machineTop), m.Pointer(at+machineBottom), m.Pointer(at+machineSize)
		fp, sp := m.Pointer(at+machineFP), m.Pointer(at+machineSP)
		registers := m.Pointer(at + machineRegisters)
		if m.Err() == nil && size < 1<<40 && bottom != 0 && top == bottom+8*size && fp >= bottom && fp <= top && sp >= bottom && sp <= fp && registers >= lo && registers < hi {
			return at
		}
	}
	return 0
}

// call is a frame of the virtual machine's stack.
type call struct {
	fp, ip uint64
	begins bool // it is the frame by which C has called
}

// mostCalls bounds the frames of one stack.
const mostCalls = 1 << 18

// calls returns the frames of a virtual machine's stack, the innermost first. own reports whether
// an address is in Guile's library.
func calls(m *structs.Reader, at uint64, own func(addr uint64) bool) (list []call, err error) {
	fp, ip, top := m.Pointer(at+machineFP), m.Pointer(at+machineIP), m.Pointer(at+machineTop)
	for m.OK() && fp < top {
		if len(list) == mostCalls {
			m.Fail("there are too many frames")
			break
		}
		c := call{fp: fp, ip: ip}
		if own(ip) { // 0 is the opcode that stops; other code of the library's own calls nothing
			c.begins = m.Uint(ip, 1) == 0
		}
		link := m.Pointer(fp + frameLink)
		ip = m.Pointer(fp + frameReturn)
		if link == 0 || link > (top-fp)/8 {
			m.Fail("the frame at %#x has no caller", fp)
		}
		if !m.OK() {
			break
		}
		list = append(list, c)
		fp += 8 * link
	}
	return list, m.Err()
}
