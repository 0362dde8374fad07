package guard

import (
	"unsafe"

	"github.com/sfwalk/sfwalk/arch/control"
)

// stepBegun is a thread before a step of one instruction.
type stepBegun struct {
	status, code []byte // NT_PRSTATUS, and the memory from the PC on
}

// maxInstruction is how many bytes an instruction has at most (x86).
const maxInstruction = 15

// beginStep notes where the thread begins a step. It reports whether the thread stands still yet.
func (t *tracee) beginStep(g *guard) bool {
	if !t.endSteps(g) {
		return false
	}
	t.step = nil
	if g.arch.StepLeaves == nil {
		return true
	}
	status, code := t.status(g.arch), make([]byte, maxInstruction)
	if pc, ok := pcIn(g.arch, status); ok {
		n, _ := g.mem.ReadAt(code, int64(pc))
		t.step = &stepBegun{status, code[:n]}
	}
	return true
}

// mendStep takes out of memory what the program would not have written there without the step.
func (t *tracee) mendStep(g *guard) {
	begun := t.step
	t.step = nil
	if begun == nil {
		return
	}
	t.loaded = g.arch.LoadsFlags(begun.code)
	addr, bits, ok := g.arch.StepLeaves(begun.code, begun.status, t.status(g.arch))
	var b [1]byte
	if !ok {
		return
	}
	if _, err := g.mem.ReadAt(b[:], int64(addr)); err != nil {
		return
	}
	b[0] &^= bits
	g.mem.WriteAt(b[:], int64(addr))
}

// endSteps has the kernel end the steps of a thread that has loaded its flags by the last one: it
// lets the thread run, but has it stop before its next instruction. It reports whether the thread
// stands still again.
func (t *tracee) endSteps(g *guard) bool {
	if !t.loaded {
		return true
	}
	t.loaded = false
	ptrace(ptraceInterrupt, t.tid, 0, 0)
	if ptrace(ptraceCont, t.tid, 0, 0) != nil {
		return false
	}
	t.state, t.asked = running, true
	return g.awaitStops(func() bool { return t.state == running }) && t.state == stopped && g.threads[t.tid] == t
}

// status returns the set NT_PRSTATUS, empty if it cannot be read, or if the thread runs code of
// another width than the program has.
func (t *tracee) status(a *control.Control) []byte {
	room := make([]byte, a.StatusSize+8) // the kernel wants a multiple of a register
	n, err := getSet(t.tid, control.NTPRStatus, room)
	if err != nil || n != a.StatusSize {
		return nil
	}
	return room[:n]
}

func pcIn(a *control.Control, status []byte) (uint64, bool) {
	if len(status) < a.PC+a.PCSize {
		return 0, false
	}
	if a.PCSize == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&status[a.PC]))), true
	}
	return *(*uint64)(unsafe.Pointer(&status[a.PC])), true
}

func (t *tracee) pc(a *control.Control) (uint64, bool) { return pcIn(a, t.status(a)) }

func (t *tracee) setPC(a *control.Control, pc uint64) {
	if status := t.status(a); len(status) >= a.PC+a.PCSize {
		if a.PCSize == 4 {
			*(*uint32)(unsafe.Pointer(&status[a.PC])) = uint32(pc)
		} else {
			*(*uint64)(unsafe.Pointer(&status[a.PC])) = pc
		}
		putSet(t.tid, control.NTPRStatus, status)
	}
}
