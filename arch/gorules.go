package arch

import "github.com/sfwalk/sfwalk/trad"

// NoReg stands for no register.
const NoReg trad.Reg = 0xffff

// GoRules are the conventions of Go's assembler and runtime on a processor (cmd/internal/obj,
// src/runtime/asm_*.s).
type GoRules struct {
	// InTail is the register that has a function's return address while the function's last
	// instructions call morestack; [NoReg] where the stack has it.
	InTail trad.Reg
	// G is the register that has the struct g of what runs; [NoReg] where the thread's own storage
	// has it, at a distance from ThreadBase.
	G, ThreadBase trad.Reg
	// InGo is the register that has the struct g while a goroutine runs code of Go: functions of
	// assembly and of C may use it for something else, where it is not G.
	InGo trad.Reg
	// NoFP says that Go has no frame pointer there, and uses the register for something else.
	NoFP bool
	// Switch are the registers that gosave_systemstack_switch changes, Storage are the registers
	// that save_g and load_g change.
	Switch, Storage []trad.Reg
	// CallSize is how many bytes a direct call has, where InTail is a register.
	CallSize uint64
	// Injected is how many bytes the runtime's sighandler pushes to make a function call another
	// one. The link register is at their inner end. It is 0 where sighandler pushes only a return
	// address.
	Injected int32
	// Crosscall1 is the function of runtime/cgo that begins a thread, if no table describes it.
	Crosscall1 *Crosscall1
}

// Crosscall1 is runtime/cgo's crosscall1 at its call of runtime.mstart. A stripped program does not
// say where the function begins.
type Crosscall1 struct {
	Code []byte   // from the call on
	Call uint64   // bytes of the call
	Row  trad.Row // behind the call, without a range
}
