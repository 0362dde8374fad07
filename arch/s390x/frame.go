package s390x

import (
	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	entrySP = -saveArea // r15 on entry, from the CFA

	// calleeOK are the registers that a call preserves.
	calleeOK dataflow.Set = 1<<R6 | 1<<R7 | 1<<R8 | 1<<R9 | 1<<R10 | 1<<R11 | 1<<R12 | 1<<R13 | 1<<R15 | 0xff<<F8
)

// Machine is what the analysis of prologue values must know. Its registers have the numbers
// that DWARF gives them.
var Machine = &dataflow.Machine{
	Decode:     decode,
	Word:       8,
	Align:      2,
	MaxLen:     6,
	Regs:       nRegs,
	DWARF:      func(r dataflow.Reg) trad.Reg { return trad.Reg(r) },
	SP:         sp,
	FP:         fp,
	RA:         link,
	EntrySP:    entrySP,
	Preserved:  calleeOK,
	Floats:     0xffff << F0,
	Steady:     1<<R15 - 1<<R6,
	Unloaded:   1 << R15,
	SaveArea:   saveArea,
	BackChain:  true,
	Lost:       trad.Undefined,
	Arguments:  dataflow.None,
	Probed:     link,
	LinkCopy:   dataflow.Reg(R5),
	SystemCall: dataflow.Reg(R1),
	EndsThread: endsThread,
	InStub:     inStub,
	StackCheck: checksStack,
	Regain:     addsPool,
}

// search is the search for ways out.
var search = ahead.New(Machine)

// endsThread implements dataflow.Machine.EndsThread: svc, for exit or exit_group
// (asm/unistd_64.h). The number is in the instruction, unless it is 0 there.
func endsThread(code []byte, number int) bool {
	if len(code) < 2 || code[0] != 0x0a {
		return false
	}
	if code[1] != 0 {
		number = int(code[1])
	}
	return number == 1 || number == 248
}

// addsPool implements dataflow.Machine.Regain, for an instruction that adds a number in memory
// to r11 or r15: a very large frame is taken down that way, by a constant that is not in the
// code. What then loads r15 does so from the slot that r15 was saved in.
func addsPool(a *dataflow.Analysis, s *dataflow.State, r dataflow.Reg, next int32) {
	for range 24 {
		in, ops := a.Peek(next)
		if off, ok := loadsSP(ops, r); ok {
			for _, x := range s.Slots() { // the back chain is such a slot, too, but not beside r14's
				if _, ok := x.At.Distance(); ok && x.Val == dataflow.FromCFA(entrySP) && s.Load(x.At.Plus(-8)) == dataflow.OnEntry(link) {
					s.Set(r, x.At.Plus(-off), next)
				}
			}
			return
		}
		if !in.Harmless() {
			return
		}
		next += int32(in.Len)
	}
}

// loadsSP reports whether an instruction loads r15 from memory at register r, and at which
// distance.
func loadsSP(ops []dataflow.Op, r dataflow.Reg) (off int32, ok bool) {
	for i, from := range ops {
		if from.Kind != dataflow.Load || from.Dst != sp {
			continue
		}
		if off = from.Imm; from.Base == dataflow.Temp && i > 0 {
			from, off = ops[0], off+ops[0].Imm
		}
		return off, from.Base == r
	}
	return 0, false
}

// checksStack implements dataflow.Machine.StackCheck: functions of Go begin with lg
// %r10,16(%r13), then clgrj of r10 with r15, or with r11, an address below it.
func checksStack(code []byte, at int) bool {
	return match(code, 0xe3, 0xa0, 0xd0, 0x10, 0x00, 0x04) &&
		(match(code[at:], 0xec, 0xaf, -1, -1, -1, 0x65) || match(code[at:], 0xec, 0xab, -1, -1, -1, 0x65))
}
