package arch

import "github.com/sfwalk/sfwalk/trad"

// SignalFrame is one form of the frame that the kernel makes on the stack for a signal handler:
// where its members are, in bytes from SP at the first instruction of the trampoline.
type SignalFrame struct {
	PC int // the interrupted PC
	// OnStack reports whether such a frame is at SP, as in [Trampoline].
	OnStack func(sp uint64, word func(off int) uint64) bool

	// HasInfo says that struct siginfo is at Info.
	HasInfo bool
	Info    int
	// InfoOptional says that the kernel writes struct siginfo for handlers with SA_SIGINFO alone,
	// and leaves what was there before for others.
	InfoOptional bool
	// HasNumber says that the signal's number is at Number, an int. The kernel always writes it.
	HasNumber bool
	Number    int
	Mask      int // the signals that the thread has blocked before, as a long
	// Fault returns the last fault of the thread that became a signal: it need not be the signal of
	// this frame. Nil if the frame does not tell.
	Fault func(word func(off int) uint64) Fault
	// Brings says whether the instruction at pc, with which code begins, has brought a fault, by
	// the registers before it. Nil if nobody knows.
	Brings func(code []byte, pc uint64, register func(trad.Reg) (uint64, bool), f Fault) Verdict
}

// Verdict is an answer of [SignalFrame].Brings.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Yes
	No
)

// Fault is a fault of a program as the processor's state in a signal frame has it.
type Fault struct {
	Kind FaultKind
	Addr uint64 // of a PageFault
	// Protected says that a page is there, which may not be used so. If it is false, there may be
	// one all the same.
	Protected bool
}

// FaultKind says what kind of fault it was.
type FaultKind uint8

// The kinds of faults.
const (
	UnknownFault FaultKind = iota
	NoPageFault            // another fault, or none
	PageFault
	AddressFault // by an address that the processor does not tell
)

// TrapFault returns the fault by what struct sigcontext of x86 has of it: the number of the
// exception, its error code, and the address. The kernel of 32-bit Arm has x86's numbers, too, but
// no such code.
func TrapFault(number, code, addr uint64) Fault {
	const stack, protection, pageFault, last = 12, 13, 14, 31
	switch {
	case number == pageFault:
		return Fault{Kind: PageFault, Addr: addr, Protected: code&1 != 0}
	case number == stack || number == protection:
		return Fault{Kind: AddressFault}
	case number <= last:
		return Fault{Kind: NoPageFault}
	}
	return Fault{}
}
