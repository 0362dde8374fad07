package arch

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
}

// Fault is a fault of a program as the processor's state in a signal frame has it.
type Fault struct {
	Kind FaultKind
	Addr uint64 // of a PageFault
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

// TrapFault returns the fault by what struct sigcontext of x86 and of 32-bit Arm have of it: the
// number of x86's exception, and the address. Arm's kernel has x86's numbers, too.
func TrapFault(number, addr uint64) Fault {
	const stack, protection, pageFault, last = 12, 13, 14, 31
	switch {
	case number == pageFault:
		return Fault{PageFault, addr}
	case number == stack || number == protection:
		return Fault{Kind: AddressFault}
	case number <= last:
		return Fault{Kind: NoPageFault}
	}
	return Fault{}
}
