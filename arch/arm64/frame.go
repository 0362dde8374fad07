package arm64

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// calleeOK are the registers that a call preserves.
const calleeOK dataflow.Set = (1<<30 - 1<<19) | 1<<rsp | 0xff<<(v0+8)

// Machine is what the analysis of prologue values must know. See decode.go for
// the numbers of its registers.
var Machine = &dataflow.Machine{
	Decode:     decode,
	Word:       8,
	Align:      size,
	MaxLen:     size,
	Regs:       nRegs,
	DWARF:      dwarf,
	SP:         rsp,
	FP:         x29,
	RA:         x30,
	Preserved:  calleeOK,
	Floats:     0xffffffff << v0,
	Constant:   1<<16 - 1<<9, // where gcc's -fipa-ra keeps the size of a large frame
	Steady:     1<<31 - 1<<19,
	SavedOnce:  1<<31 - 1<<19,
	Unloaded:   1 << x30,
	Lost:       trad.NotTracked, // it may be where nobody has looked
	Arguments:  dataflow.None,
	Probed:     dataflow.None,
	LinkCopy:   dataflow.None,
	SystemCall: 8,
	EndsThread: endsThread,
	InStub:     inStub,
	StackCheck: checksStack,
}

// search is the search for ways out.
var search = ahead.New(Machine)

// dwarf returns the DWARF number of a register.
func dwarf(r dataflow.Reg) trad.Reg {
	if r >= v0 {
		return 64 + trad.Reg(r-v0)
	}
	return trad.Reg(r)
}

// endsThread implements dataflow.Machine.EndsThread: svc #0, for exit or exit_group
// (asm-generic/unistd.h).
func endsThread(code []byte, number int) bool {
	return (number == 93 || number == 94) && len(code) >= size && binary.LittleEndian.Uint32(code) == 0xd4000001
}

// checksStack implements dataflow.Machine.StackCheck: functions of Go begin with ldr x16, [x28,
// #16], then compare that with sp or with x17, an address below it, and b.ls.
func checksStack(code []byte, at int) bool {
	if at > 32 || at+size > len(code) || len(code) < size {
		return false
	}
	return binary.LittleEndian.Uint32(code) == 0xf9400b90 && binary.LittleEndian.Uint32(code[at:])&0xff00001f == 0x54000009
}
