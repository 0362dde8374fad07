package dataflow

import (
	"math"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// A Machine is what the analysis must know of a processor and its ABI.
type Machine struct {
	// Decode decodes the instruction at code[at:], whose micro-operations it appends to ops.
	Decode func(code []byte, at int, ops []Op) (Inst, []Op)
	// Word is the width of a word in bytes: the width of an address, and of a register that is
	// saved.
	Word uint16
	// Align is what offsets of instructions are multiples of, MaxLen how long one can be.
	Align, MaxLen int32

	Regs   int                  // registers are the numbers below
	DWARF  func(r Reg) trad.Reg // their DWARF numbers, in the same order
	SP, FP Reg                  // the stack pointer; the frame pointer
	// RA is the link register. Where a call pushes the return address instead, at a distance
	// of Pushed from the CFA, it is a number that stands for it.
	RA     Reg
	Pushed int32
	// EntrySP is the stack pointer's distance from the CFA on entry.
	EntrySP int32
	// Preserved are the registers that a call preserves. Floats are the registers for
	// floating-point numbers, which only prologues of their own save.
	Preserved, Floats Set
	// Constant are registers that a call need not preserve, and gives no result in: a constant
	// stays there. What reads one behind a call knows that the called function leaves it alone.
	Constant Set
	// Steady are the registers whose values on entry are in one place by all ways that lead
	// to an instruction; else one of the ways is never taken.
	Steady Set
	// SavedOnce are the registers that no function saves once more in the same place, when
	// they do not hold the caller's value any more.
	SavedOnce Set
	// Unloaded are the registers that code loads from its frame only to take that down; the
	// stack pointer, together with others.
	Unloaded Set
	// SaveArea is how many bytes at the stack pointer a called function may use, but the
	// first word.
	SaveArea int32
	// BackChain says that the first word at the stack pointer may hold PREVIOUS's.
	BackChain bool
	// Chained says that a frame pointer points to where the caller's is saved. It is the
	// surest way to the CFA then, as compilers' tables have it.
	Chained bool
	// Moving says that code moves the stack pointer in the body of a function, too.
	Moving bool
	// Lost is the kind of the rule of a register whose value on entry is in no known place.
	Lost trad.Kind

	// Arguments is the register by which a function with a realigned frame finds its arguments.
	// Probed is the register that holds the end of a frame that is made page by page. LinkCopy is
	// the register that holds the return address for the routine that makes a goroutine's stack
	// larger, and keeps it. Each is None where there is no such register.
	Arguments, Probed, LinkCopy Reg

	// SystemCall is the register that holds the number of a system call. EndsThread reports
	// whether code begins with one that does not return, where the register holds number; -1
	// is for a number that is not known.
	SystemCall Reg
	EndsThread func(code []byte, number int) bool

	// InStub reports whether code begins with the rest of a linkage stub that has no frame; nil
	// where stubs have one.
	InStub func(code []byte) bool
	// StackCheck reports whether the branch at code[at:] is the one at the beginning of functions
	// of Go, to the routine that makes the stack larger.
	StackCheck func(code []byte, at int) bool

	// Apart reports whether code is a part of a function that is elsewhere, and has another
	// entry state; nil for never.
	Apart func(code []byte) bool
	// Spares reports whether a call in state s, behind which the code goes on at offset next, is of
	// a routine that changes no registers but the ones that the hook itself sets in s. Such a
	// routine touches the pages of a large frame, or tells code its own address. nil stands for
	// never.
	Spares func(a *Analysis, s *State, next int32) bool
	// Pops tells, behind a call in state s, how many bytes of arguments the called function has
	// taken off the stack: by the code that goes on at offset next. nil stands for functions that
	// never take any.
	Pops func(a *Analysis, s *State, next int32) int32
	// Regain may say what register r, the stack or frame pointer, is behind an instruction
	// that has made it unknown, from what follows at offset next; nil for never.
	Regain func(a *Analysis, s *State, r Reg, next int32)
}

// machines are the machines by the names of their architectures.
var machines = map[string]*Machine{}

// Register makes m known as the machine of an architecture. The architecture's package calls it
// when it is initialised, and at no other time.
func Register(a *arch.Arch, m *Machine) { machines[a.Name] = m }

// Of returns the machine of an architecture; nil if there is none. Call it to follow code for
// another question than the descriptor's functions answer.
func Of(a *arch.Arch) *Machine { return machines[a.Name] }

// wanted are the registers whose values on entry PREVIOUS wants back.
func (m *Machine) wanted() Set { return m.Preserved | m.RA.Bit() }

// Address returns an address without what its computation has carried out of a word.
func (m *Machine) Address(v uint64) uint64 { return v & (1<<(8*m.Word) - 1) }

// pushes reports whether a call pushes the return address.
func (m *Machine) pushes() bool { return m.Pushed != 0 }

// scratch has room for the micro-operations of an instruction. A decoder is called by a pointer,
// so that its arguments are on the heap, but who steps a Walker allocates nothing.
var scratch = sync.Pool{New: func() any { ops := make([]Op, 0, 32); return &ops }}

// A Flow says where control goes from an instruction.
type Flow uint8

const (
	Next     Flow = iota // to the next instruction
	Call                 // to Target, and back to the next instruction
	Jump                 // to Target
	Branch               // to Target or on
	BranchNE             // to Target unless what was compared last is equal
	To                   // to where register By says; a return where that is the return address
	MaybeTo              // there or on
	Away                 // nobody knows where
	Stop                 // nowhere: it traps
	Bad                  // it is no instruction
)

// NoTarget is the target of what is no direct branch.
const NoTarget = math.MinInt64

// An Inst is one instruction, but for its micro-operations.
type Inst struct {
	Flow   Flow
	Len    uint8
	Nop    bool // nothing that matters here changes
	Return bool // the instruction is a return in itself, whatever By holds
	By     Reg
	Target int64 // offset into the code, if it is in there
	Kill   Set   // registers that get a value which is not followed, before all else

	first    int32 // its first micro-operation
	n        uint8 // and how many there are
	unloads  bool  // it loads some of Machine.Unloaded
	harmless bool
}

// Harmless reports whether an instruction changes no register that PREVIOUS wants back,
// stores nothing, and does not end the way. Only instructions of an [Analysis] know.
func (in *Inst) Harmless() bool { return in.harmless }

// harmless reports whether an instruction changes no register of the set wanted, and
// stores nothing.
func harmless(in *Inst, ops []Op, wanted Set) bool {
	if in.Flow != Next && in.Flow != Jump || in.Kill&wanted != 0 {
		return false
	}
	for i := range ops {
		switch ops[i].Kind {
		case Store, Sign:
			return false
		case Compare:
		default:
			if wanted.Has(ops[i].Dst) {
				return false
			}
		}
	}
	return true
}

// settle notes what an analysis asks of an instruction again and again.
func (in *Inst) settle(m *Machine, ops []Op) {
	in.harmless = harmless(in, ops, m.wanted())
	for i := range ops {
		if ops[i].Kind == Load {
			in.unloads = in.unloads || m.Unloaded.Has(ops[i].Dst)
		}
	}
}
