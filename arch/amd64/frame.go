package amd64

import (
	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	nRegs    = 16 // general registers
	calleeOK = 1<<RBX | 1<<RBP | 1<<RSP | 1<<R12 | 1<<R13 | 1<<R14 | 1<<R15
	entrySP  = -8 // rsp on entry is CFA-8
)

// Machine is what the analysis of prologue values must know. Its registers have the numbers
// that DWARF gives them; the return address has that of its column.
var Machine = &values.Machine{
	Decode:     decode,
	Align:      1,
	MaxLen:     maxLen,
	Regs:       int(RIP) + 1,
	DWARF:      func(r values.Reg) trad.Reg { return trad.Reg(r) },
	SP:         values.Reg(RSP),
	FP:         values.Reg(RBP),
	RA:         values.Reg(RIP),
	Pushed:     -8,
	EntrySP:    entrySP,
	Preserved:  calleeOK,
	Steady:     calleeOK &^ (1 << RSP),
	SavedOnce:  calleeOK &^ (1 << RSP),
	Chained:    true,
	Moving:     true,
	Lost:       trad.Undefined,
	Arguments:  values.Reg(R10),
	Probed:     values.Reg(R11),
	LinkCopy:   values.None,
	SystemCall: values.Reg(RAX),
	EndsThread: endsThread,
	StackCheck: checksStack,
	Apart:      apart,
	Probes:     probes,
}

// search is the search for ways out.
var search = ahead.New(Machine)

// endsThread implements values.Machine.EndsThread: syscall, for exit or exit_group
// (asm/unistd_64.h).
func endsThread(code []byte, number int) bool {
	return (number == 60 || number == 231) && len(code) >= 2 && code[0] == 0x0f && code[1] == 0x05
}

// apart reports whether code is a cold part that was split off: it begins with a lone nop,
// for the exception tables' sake; functions begin with none, or with several for patching.
func apart(code []byte) bool { return len(code) > 1 && code[0] == 0x90 && code[1] != 0x90 }

// probes implements values.Machine.Probes: the routine preserves rax, the frame's size, which
// what stands behind the call subtracts.
func probes(s *values.State, next []values.Op) bool {
	if len(next) != 1 || next[0].Kind != values.Minus || next[0].Dst != rsp || next[0].Index != rax {
		return false
	}
	_, ok := s.Reg(rax).Number()
	return ok
}

// checksStack implements values.Machine.StackCheck: a comparison of rsp (or of r12, an
// address below it) with the limit that r14 points to, and a jbe.
func checksStack(code []byte, at int) bool {
	if code[at] != 0x76 && (code[at] != 0x0f || at+1 >= len(code) || code[at+1] != 0x86) {
		return false
	}
	p := code[max(0, at-4):at] // cmp 0x10(%r14),%rsp or %r12
	return len(p) == 4 && (p[0] == 0x49 && p[2] == 0x66 || p[0] == 0x4d && p[2] == 0x66) && p[1] == 0x3b && p[3] == 0x10
}
