package x86

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// MaxLen is how long an instruction can be, bytes.
const MaxLen = 15

// A Decoder decodes the instructions of one mode of the processor.
type Decoder struct {
	mode   int              // 32 or 64: bits of an address
	word   uint16           // bytes of a word
	first  x86asm.Reg       // the widest register that has the number 0
	thread x86asm.Reg       // the segment that has the thread's own storage
	number [16]dataflow.Reg // by the processor's numbers: ax, cx, dx, bx, sp, bp, si, di, r8, …
	mask   byte             // of such a number
	ip     dataflow.Reg     // what stands for the return address
}

// The processor's numbers of registers that have tasks of their own.
const (
	numberAX = iota
	numberCX
	numberDX
	numberBX
	numberSP
	numberBP
	numberSI
	numberDI
	number11 = 11
)

// New returns the decoder of a mode, of 32 or 64 bits. numbers are the machine's numbers of the
// general registers, in the order of the processor's: eight or sixteen. ip stands for the return
// address.
func New(mode int, ip dataflow.Reg, numbers ...dataflow.Reg) *Decoder {
	d := &Decoder{mode: mode, word: uint16(mode / 8), ip: ip, mask: byte(len(numbers) - 1), first: x86asm.RAX, thread: x86asm.FS}
	if mode == 32 {
		d.first, d.thread = x86asm.EAX, x86asm.GS
	}
	copy(d.number[:], numbers)
	return d
}

// set returns the registers that have some of the processor's numbers.
func (d *Decoder) set(numbers ...int) (s dataflow.Set) {
	for _, n := range numbers {
		s |= d.number[n].Bit()
	}
	return s
}
