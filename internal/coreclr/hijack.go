package coreclr

import (
	"bytes"

	"github.com/sfwalk/sfwalk/target"
)

// The run time stops a thread that runs managed code by writing the address of a stub over a return
// address (hijacking). The stub (OnHijackTripThread) makes room for the real return address, which
// the thread's record has, saves registers, and calls the run time.

// tripBegin is the beginning of the stub: it pushes rax, where the return address will be, rbp,
// rbx, r15, r14, r13 and r12.
var tripBegin = []byte{0x50, 0x55, 0x53, 0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0x41, 0x54}

// TripSize bounds the stub's code, bytes.
const TripSize = 96

// Trip is how far the stub has come at an instruction.
type Trip struct {
	// Pushed has the words that are on the stack above rsp: from where rsp was at the beginning on
	// down, 8 bytes each. Registers are numbered as processors do; rax stands for the return
	// address where it is first.
	Pushed []uint8
	// Below is what rsp is below these, bytes.
	Below int32
}

// IsTrip reports whether code is the beginning of the stub.
func IsTrip(code []byte) bool { return bytes.HasPrefix(code, tripBegin) }

// ReadTrip follows the stub's code to the instruction at an offset; ok is false if that is at none,
// or the code has other instructions.
func ReadTrip(code []byte, offset uint64) (t Trip, ok bool) {
	for at := uint64(0); ; {
		if at == offset {
			return t, true
		}
		if at > offset || at >= uint64(len(code)) {
			return t, false
		}
		c := code[at:]
		at1 := func(i int) byte {
			if i < len(c) {
				return c[i]
			}
			return 0
		}
		switch {
		case c[0]&0xf8 == 0x50:
			t.Pushed = append(t.Pushed, c[0]&7)
			at++
		case c[0] == 0x41 && at1(1)&0xf8 == 0x50:
			t.Pushed = append(t.Pushed, at1(1)&7|8)
			at += 2
		case c[0]&0xf8 == 0x58 && len(t.Pushed) > 0:
			t.Pushed = t.Pushed[:len(t.Pushed)-1]
			at++
		case c[0] == 0x41 && at1(1)&0xf8 == 0x58 && len(t.Pushed) > 0:
			t.Pushed = t.Pushed[:len(t.Pushed)-1]
			at += 2
		case c[0] == 0x48 && at1(1) == 0x8d && at1(2) == 0x64 && at1(3) == 0x24: // lea rsp, [rsp+number]
			t.Below -= int32(int8(at1(4)))
			at += 5
		case c[0] == 0x48 && at1(1) == 0x89 && at1(2) == 0xe7: // mov rdi, rsp
			at += 3
		case c[0] == 0xe8:
			at += 5
		case c[0] == 0x66 && at1(1) == 0x0f && at1(3) == 0x04 && at1(4) == 0x24: // movdqa, [rsp]
			at += 5
		case c[0] == 0x66 && at1(1) == 0x0f && at1(3)&0xc7 == 0x44 && at1(4) == 0x24: // movdqa, [rsp+number]
			at += 6
		default:
			return t, false
		}
	}
}

const (
	mostThreads  = 1 << 14
	threadBefore = 112  // bytes of a thread's record before its link, in all of these releases
	threadBehind = 1024 // and as much behind
)

// Hijacked returns the return address of which the run time has taken the place at an address on a
// stack; 0 if it has not. The thread's record has both, the address of the place last.
func (r *Runtime) Hijacked(m target.Memory, slot uint64) uint64 {
	link := word(m, word(m, r.store)+r.threads.first)
	for n := 0; n < mostThreads && link > threadBefore; n++ {
		var record [threadBefore + threadBehind]byte
		k, _ := m.ReadMemory(link-threadBefore, record[:])
		for b := record[:k&^7]; len(b) >= 16; b = b[8:] {
			if order.Uint64(b[8:]) == slot {
				return order.Uint64(b)
			}
		}
		link = word(m, link)
	}
	return 0
}
