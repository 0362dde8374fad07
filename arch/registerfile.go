package arch

import "github.com/sfwalk/sfwalk/trad"

// RegisterFile names a processor's registers, and says which of them the ABI gives a task.
type RegisterFile struct {
	// PAuth says that code addresses may carry a pointer authentication code. The kernel tells in
	// which bits by NT_ARM_PAC_MASK.
	PAuth bool
	// Regs are the registers that a user sees, in the order to print them.
	Regs []RegInfo
	// Continued are the registers in the order in which a value goes on that is wider than one of
	// them. If it is nil, the order is the one of Regs.
	Continued []trad.Reg
	// PC, SP and FP are numbers of THIS frame's own registers. RA is the return
	// address column of the ABI's unwind tables: the PC itself where a call pushes
	// its return address, the link register elsewhere.
	PC, SP, FP, RA trad.Reg
	// ExchangedEH are two registers, SP first, that .eh_frame of some systems numbers the other way
	// round: see cfi.ABI. They are the same one where all agree.
	ExchangedEH [2]trad.Reg
	// Doubles and Halves are numbers of registers that unwind tables may name in two ways: see
	// cfi.ABI.
	Doubles, Halves trad.Reg
	// CalleeSaved are the registers that the ABI lets a caller rely on across a
	// call, so that "not mentioned by the unwind table" means "unchanged". SP counts.
	CalleeSaved RegSet
	// AddressMask has the bits of a code address that are address: the rest may
	// carry a pointer authentication code. A target that knows better overrides it.
	AddressMask uint64
	// UnsignedRegisters says that GDB shows general registers as numbers without a sign, and
	// FPIsAddress that it shows the frame pointer's register, by whichever name, as an address.
	UnsignedRegisters, FPIsAddress bool
	// WideTable makes [Arch.WideRegs]; nil if there are none.
	WideTable func() []WideReg
	// KernelRegs are the kernel's register sets, NT_PRSTATUS first.
	KernelRegs []KernelRegs
	// PerfRegs are the registers of samples of perf_event_open(2).
	PerfRegs []PerfReg
	// OtherCalleeSaved are the callee-saved registers but PC, SP, FP and RA, in the order of
	// [Arch.OtherCalleeSavedIndex]. NarrowRegs are the registers of Regs that have less than 64
	// bits. [Register] fills them in.
	OtherCalleeSaved, NarrowRegs []trad.Reg

	index [MaxReg]int8  // 1 + a register's position in Regs
	spare [MaxReg]uint8 // by how many bits a register is narrower than 64
	kept  [MaxReg]int8  // 1 + a callee-saved register's position among them
}

// RegInfo names a register.
type RegInfo struct {
	Num  trad.Reg
	Name string
	Bits int // width: 64, or less for flags and selectors of segments
}
