package i386

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	calleeOK = 1<<EBX | 1<<EBP | 1<<ESP | 1<<ESI | 1<<EDI
	pushed   = -4 // esp on entry, and the return address, are at CFA-4

	eax = dataflow.Reg(EAX)
	esp = dataflow.Reg(ESP)
)

// decoder has the processor's own numbers of the registers, which are DWARF's.
var decoder = x86.New(32, dataflow.Reg(EIP), eax, dataflow.Reg(ECX), dataflow.Reg(EDX), dataflow.Reg(EBX),
	esp, dataflow.Reg(EBP), dataflow.Reg(ESI), dataflow.Reg(EDI))

// Machine is what the analysis of prologue values must know. Its registers have the numbers that
// DWARF gives them; the return address has the number of its column.
var Machine = &dataflow.Machine{
	Decode:     decoder.Decode,
	Word:       4,
	Align:      1,
	MaxLen:     x86.MaxLen,
	Regs:       int(EIP) + 1,
	DWARF:      func(r dataflow.Reg) trad.Reg { return trad.Reg(r) },
	SP:         esp,
	FP:         dataflow.Reg(EBP),
	RA:         dataflow.Reg(EIP),
	Pushed:     pushed,
	EntrySP:    pushed,
	Preserved:  calleeOK,
	Steady:     calleeOK &^ (1 << ESP),
	SavedOnce:  calleeOK &^ (1 << ESP),
	Chained:    true,
	Moving:     true,
	Lost:       trad.Undefined,
	Arguments:  dataflow.Reg(ECX),
	Probed:     eax,
	LinkCopy:   dataflow.None,
	SystemCall: eax,
	EndsThread: endsThread,
	StackCheck: checksStack,
	Apart:      x86.Apart,
	Spares:     spares,
	Pops:       pops,
}

// search is the search for ways out.
var search = ahead.New(Machine)

// kernelEntries are int $0x80, sysenter, syscall, and call *%gs:0x10.
var kernelEntries = []string{"\xcd\x80", "\x0f\x34", "\x0f\x05", "\x65\xff\x15\x10\x00\x00\x00"}

// endsThread implements dataflow.Machine.EndsThread: int $0x80, sysenter or a call of the vDSO's
// entry, for exit or exit_group (asm/unistd_32.h).
func endsThread(code []byte, number int) bool {
	return (number == 1 || number == 252) && slices.ContainsFunc(kernelEntries, func(entry string) bool { return strings.HasPrefix(string(code[:min(len(code), 8)]), entry) })
}

// Bounds of the look behind a call for what adds to the code's own address.
const (
	maxThunk   = 4   // instructions that may stand between
	leastThunk = 128 // bytes from the code to the global offset table, at least
)

// spares implements dataflow.Machine.Spares. Position-independent code calls a routine that puts
// the return address into a register, often ebx, and adds the distance of the global offset table
// to that.
func spares(a *dataflow.Analysis, s *dataflow.State, next int32) bool {
	if decoder.Spares(a, s, next) {
		return true
	}
	for range maxThunk {
		in, ops := a.Peek(next)
		if in.Flow != dataflow.Next {
			return false
		}
		if len(ops) == 1 && ops[0].Kind == dataflow.Sum && ops[0].Base == ops[0].Dst && ops[0].Index == dataflow.None && ops[0].Dst != esp {
			if n := ops[0].Imm; n >= leastThunk || n <= -leastThunk {
				s.Set(ops[0].Dst, dataflow.Value{}, next)
				return true
			}
		}
		next += int32(in.Len)
	}
	return false
}

// checksStack reports whether the branch at code[at:] is the one at the beginning of functions of
// Go: a comparison of esp with the limit that the goroutine in ecx has (cmp 8(%ecx),%esp), and a
// jbe.
func checksStack(code []byte, at int) bool {
	if code[at] != 0x76 && (code[at] != 0x0f || at+1 >= len(code) || code[at+1] != 0x86) {
		return false
	}
	p := code[max(0, at-3):at]
	return len(p) == 3 && p[0] == 0x3b && p[1] == 0x61 && p[2] == 0x08
}
