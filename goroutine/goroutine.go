package goroutine

import (
	"strconv"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
)

// Goroutine is a goroutine as the runtime's memory describes it.
type Goroutine struct {
	Number     uint64 // the runtime's goid, from 1
	Status     Status
	Reason     string // why it waits: "chan receive"; "" if it does not wait, or that is not known
	ReasonCode uint8  // the number of Reason in the runtime, which differs from release to release
	Since      int64  // when it began to wait, by the runtime's clock (ns); 0 if not known
	Thread     int    // the ID of the thread that runs it, or is in a system call or in C for it; 0 if there is none, or it is not known

	Creator uint64 // the number of the goroutine that has created it; 0 if not known, as before Go 1.21
	Created uint64 // where the go statement's call returns; 0 if not known
	Start   uint64 // where its function begins; 0 if not known

	Labels []Label // for profiles, in the order of their keys: Go 1.24 and later; at most 64 are read, of texts at most 1 KiB

	Module *target.Module // the module whose runtime has it: numbers are of that runtime alone

	G      uint64 // the address of its struct g
	Lo, Hi uint64 // its stack: Lo <= SP <= Hi

	// The registers with which it was parked. All are 0 if it is not parked: a thread runs it, or
	// its saved SP is not on its stack. RA is 0 unless the processor has a link register and the
	// goroutine is at a function's beginning. FP is 0 where Go has no frame pointer, and if the
	// goroutine has not run yet.
	PC, SP, FP, RA uint64

	waiting uint64 // the address of its first sudog; 0 if there is none
	m, g0   uint64 // the structs of the thread that runs it; 0 if there is none
}

// Structs returns the addresses of the runtime's structs that lead from a thread's own stack to the
// stack of the goroutine that it runs: the thread's struct g and struct m, and G. A copy of the
// process needs them to walk from one stack to the other. There are none if the goroutine is
// parked.
func (g *Goroutine) Structs() []uint64 {
	if g.m == 0 {
		return nil
	}
	return []uint64{g.g0, g.m, g.G}
}

// Parked reports whether no thread runs the goroutine. To unwind a parked goroutine, start with its
// own registers. To unwind another one, start with the registers of its Thread.
func (g *Goroutine) Parked() bool { return g.SP != 0 }

// Registers sets the registers of a parked goroutine in regs, without FP or RA if that is 0. The
// register that has the struct g in code of Go has G. If the goroutine is not parked, Registers
// sets nothing.
func (g *Goroutine) Registers(a *arch.Arch, regs *arch.Registers) {
	if !g.Parked() {
		return
	}
	regs.Set(a.PC, g.PC)
	regs.Set(a.SP, g.SP)
	if g.FP != 0 {
		regs.Set(a.FP, g.FP)
	}
	if g.RA != 0 {
		regs.Set(a.RA, g.RA)
	}
	if m := goruntime.MachineOf(a); m != nil {
		regs.Set(m.InGo, g.G)
	}
}

// Status is what a goroutine does. Goroutines that have ended are not listed.
type Status uint8

const (
	Runnable  Status = iota // it waits for a thread
	Running                 // on Thread
	Syscall                 // in a system call, or in C, on Thread
	Waiting                 // for Reason; if it has a Thread, that does some work of the runtime for it
	Copying                 // its stack is being moved
	Preempted               // the runtime has stopped it, and lets it go on later
	Leaked                  // it waits for something that nothing else can reach, as the garbage collector has found
)

var statusNames = [...]string{"runnable", "running", "syscall", "waiting", "copystack", "preempted", "leaked"}

// String returns the runtime's own word.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status " + strconv.Itoa(int(s))
}

// scanning is added to a status while the garbage collector reads the stack (_Gscan).
const scanning = 0x1000

// statusOf returns the Status for the atomicstatus of a struct g (runtime2.go, _Gidle and others).
// listed is false for a goroutine that does not exist yet or any more; ok is false if status is
// no status.
func statusOf(status uint32) (s Status, listed, ok bool) {
	switch status &^ scanning {
	case 1:
		return Runnable, true, true
	case 2:
		return Running, true, true
	case 3:
		return Syscall, true, true
	case 4:
		return Waiting, true, true
	case 8:
		return Copying, true, true
	case 9:
		return Preempted, true, true
	case 10:
		return Leaked, true, true
	case 0, 6, 11: // idle, dead, dead and kept for a thread of C
		return 0, false, true
	}
	return 0, false, false
}
