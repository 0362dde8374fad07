package amd64

import (
	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	nRegs    = 16 // general registers
	calleeOK = 1<<RBX | 1<<RBP | 1<<RSP | 1<<R12 | 1<<R13 | 1<<R14 | 1<<R15
	entrySP  = -8 // rsp on entry is CFA-8
)

var decoder = x86.New(64, dataflow.Reg(RIP),
	dataflow.Reg(RAX), dataflow.Reg(RCX), dataflow.Reg(RDX), dataflow.Reg(RBX), dataflow.Reg(RSP), dataflow.Reg(RBP), dataflow.Reg(RSI), dataflow.Reg(RDI),
	dataflow.Reg(R8), dataflow.Reg(R9), dataflow.Reg(R10), dataflow.Reg(R11), dataflow.Reg(R12), dataflow.Reg(R13), dataflow.Reg(R14), dataflow.Reg(R15))

// Machine is what the analysis of prologue values must know. Its registers have the numbers that
// DWARF gives them; the return address has the number of its column.
var Machine = &dataflow.Machine{
	Decode:     decoder.Decode,
	Word:       8,
	Align:      1,
	MaxLen:     x86.MaxLen,
	Regs:       int(RIP) + 1,
	DWARF:      func(r dataflow.Reg) trad.Reg { return trad.Reg(r) },
	SP:         dataflow.Reg(RSP),
	FP:         dataflow.Reg(RBP),
	RA:         dataflow.Reg(RIP),
	Pushed:     -8,
	EntrySP:    entrySP,
	Preserved:  calleeOK,
	Steady:     calleeOK &^ (1 << RSP),
	SavedOnce:  calleeOK &^ (1 << RSP),
	Chained:    true,
	Moving:     true,
	Lost:       trad.Undefined,
	Arguments:  dataflow.Reg(R10),
	Probed:     dataflow.Reg(R11),
	LinkCopy:   dataflow.None,
	SystemCall: dataflow.Reg(RAX),
	EndsThread: endsThread,
	StackCheck: checksStack,
	Apart:      x86.Apart,
	Spares:     decoder.Spares,
}

// search is the search for ways out.
var search = ahead.New(Machine)

// endsThread implements dataflow.Machine.EndsThread: syscall, for exit or exit_group
// (asm/unistd_64.h).
func endsThread(code []byte, number int) bool {
	return (number == 60 || number == 231) && len(code) >= 2 && code[0] == 0x0f && code[1] == 0x05
}

// checksStack implements dataflow.Machine.StackCheck: a comparison of rsp (or of r12, an
// address below it) with the limit that r14 points to, and a jbe.
func checksStack(code []byte, at int) bool {
	if code[at] != 0x76 && (code[at] != 0x0f || at+1 >= len(code) || code[at+1] != 0x86) {
		return false
	}
	p := code[max(0, at-4):at] // cmp 0x10(%r14),%rsp or %r12
	return len(p) == 4 && (p[0] == 0x49 && p[2] == 0x66 || p[0] == 0x4d && p[2] == 0x66) && p[1] == 0x3b && p[3] == 0x10
}

// stores implements arch.CodeReader.Stores.
func stores(code []byte, off int32, width int, yield func(at int, value uint64) bool) {
	m := *Machine
	m.Decode = decoder.DecodeStores
	m.Stores(code, off, width, yield)
}
