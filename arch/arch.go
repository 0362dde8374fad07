package arch

import (
	"debug/elf"
	"encoding/binary"
	"strconv"

	"github.com/sfwalk/sfwalk/trad"
)

// Arch describes one architecture to the engine and the sniffers, in groups. A descriptor is never
// changed after it has been registered. Whoever adds a processor fills in what it has; a zero field
// says that the processor has none.
type Arch struct {
	Name      string   // GOARCH's name: "amd64"
	Aliases   []string // other names by which users know it
	Unames    []string // names that uname(2) has for the machine; "armv*" stands for all that begin so
	Machine   elf.Machine
	Order     binary.ByteOrder
	PtrSize   int     // bytes of an address
	SFrameABI []uint8 // SFrame ABI/arch identifiers that this descriptor serves
	// Programs32 is the name of the architecture of the 32-bit programs that kernels of this one
	// may run, too; "" if there is none. Holds32 says that the threads of these programs can be
	// held and read.
	Programs32 string
	Holds32    bool
	GDB        func() *GDB // the tables are made when they are first asked for
	// Control says how a debugger holds threads.
	Control Control
	// Go has the conventions of Go's programs; nil if they are not known.
	Go *GoRules
	// Minidumps are the numbers that minidumps have for the processor (PROCESSOR_ARCHITECTURE_* of
	// MINIDUMP_SYSTEM_INFO, and Breakpad's). Dumps of it are written with the first.
	Minidumps []uint16
	Breakpad  BreakpadRules
	// ExceptionTables says that code has the exception tables of Arm's EHABI, .ARM.exidx.
	ExceptionTables bool

	RegisterFile
	StackRules
	CodeReader
	StubReader
	KernelRules
	LanguageRules
}

// MaxOtherCalleeSaved is how many callee-saved registers [Arch.OtherCalleeSavedIndex] numbers at
// most.
const MaxOtherCalleeSaved = 20

// InnerThan reports whether stack address x belongs to an inner (newer) frame than y. Stacks of all
// supported architectures grow towards lower addresses.
func (a *Arch) InnerThan(x, y uint64) bool { return x < y }

// FrameAlign returns the nearest address, at sp or inner to it, that the ABI
// allows as SP at a call.
func (a *Arch) FrameAlign(sp uint64) uint64 { return sp &^ uint64(a.StackAlign-1) }

// UnwindPC returns the PC of a frame whose registers prev gives, without
// authentication bits; ok is false where it is not known.
func (a *Arch) UnwindPC(prev trad.Env) (pc uint64, ok bool) {
	pc, ok = prev.Register(a.PC)
	return a.CodeAddress(pc), ok
}

// UnwindSP returns the SP of a frame whose registers prev gives.
func (a *Arch) UnwindSP(prev trad.Env) (sp uint64, ok bool) { return prev.Register(a.SP) }

// CodeAddress strips what is not address from a code pointer.
func (a *Arch) CodeAddress(v uint64) uint64 { return v & a.AddressMask }

// WithAddressMask returns the descriptor for a target that knows which bits of
// its code addresses are address.
func (a *Arch) WithAddressMask(mask uint64) *Arch {
	if mask == a.AddressMask {
		return a
	}
	other := *a
	other.AddressMask = mask
	return &other
}

// WithPACMask returns the descriptor for a process whose code addresses may have a
// pointer authentication code in the bits of mask, as NT_ARM_PAC_MASK's insn_mask
// and gdb's pauth_cmask tell; 0 is for a target that does not tell. Bit 55 tells
// the halves of the address space apart, and processes have the lower.
func (a *Arch) WithPACMask(mask uint64) *Arch {
	if mask == 0 {
		return a
	}
	return a.WithAddressMask(^mask & (1<<55 - 1))
}

// Index returns the position of register r in Regs, -1 if it is not there.
func (a *Arch) Index(r trad.Reg) int {
	if r >= MaxReg {
		return -1
	}
	return int(a.index[r]) - 1
}

// OtherCalleeSavedIndex returns a number below [MaxOtherCalleeSaved] for a callee-saved register
// other than PC, SP and FP; -1 for any other.
func (a *Arch) OtherCalleeSavedIndex(r trad.Reg) int {
	if r >= MaxReg {
		return -1
	}
	return int(a.kept[r]) - 1
}

// Narrow returns the value v of register r without the bits that r does not have: a processor
// leaves anything in them.
func (a *Arch) Narrow(r trad.Reg, v uint64) uint64 {
	if r >= MaxReg || a.spare[r] == 0 {
		return v
	}
	return v & (1<<(64-a.spare[r]) - 1)
}

// Saved returns the value of register r, where word is the word in memory at the address at which r
// is saved. A register that is narrower than a word has the word's first bytes in memory.
func (a *Arch) Saved(r trad.Reg, word uint64) uint64 {
	if r >= MaxReg || a.spare[r] == 0 {
		return word
	}
	if unused := a.spare[r] - uint8(64-8*a.PtrSize); a.bigEndian() && unused < 64 {
		return word >> unused
	}
	return a.Narrow(r, word)
}

// RegName returns the name of register r, "r17" style for an unnamed one.
func (a *Arch) RegName(r trad.Reg) string {
	if i := a.Index(r); i >= 0 {
		return a.Regs[i].Name
	}
	return "r" + strconv.Itoa(int(r))
}
