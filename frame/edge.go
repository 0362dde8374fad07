package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

const (
	maxPrologue = 512 // bytes of a function that are read to find its prologue's end
	maxEpilogue = 64
	maxBefore   = 4096 // bytes of a function before the PC that are read to find what an epilogue has done
)

// edge reports whether a context's PC is in a prologue or an epilogue, by the code of
// its function. What is found is kept with the PC's row.
func (w *Walker) edge(c *Context, mem target.Memory) bool {
	slot := &w.table.rows.slots[slotOf(c.PC)]
	cached := slot.is(c.PC, w.table.rows.epoch, c.Caller)
	if cached && slot.state.has(slotEdgeKnown) {
		return slot.state.has(slotEdge)
	}
	if w.code == nil {
		w.code = make([]byte, maxBefore+maxEpilogue)
	}
	edge := atEdge(w.arch, w.modules, mem, c.PC, c.Caller, w.code)
	if cached {
		slot.state.add(slotEdgeKnown)
		if edge {
			slot.state.add(slotEdge)
		}
	}
	return edge
}

// InEdge reports whether PC is in a prologue or an epilogue, where the frame is not yet, or no
// longer, set up as in the body of the function. On arm64 and s390x, other instructions within an
// epilogue may count as the body.
func (f *Frame) InEdge() bool {
	s := f.stack
	if f.typ != Normal || f.Level < 0 {
		return false
	}
	return atEdge(s.arch, s.modules, &s.window, f.pc, f.caller, make([]byte, maxBefore+maxEpilogue))
}

// First returns the context of frame 0 as [NewContext] does, and fills in Edge. Call it instead of
// NewContext where Edge is wanted: it may read the code around PC. mem is the stack's memory.
func (w *Walker) First(regs *arch.Registers, mem target.Memory) Context {
	c := NewContext(w.arch, regs)
	if c.PC != 0 {
		w.begin(&c, mem)
		c.Edge = w.edge(&c, &w.stack.window)
	}
	return c
}

// atEdge reports whether pc is in a prologue or an epilogue. caller says that it is a return
// address. buffer has room for the code that is read.
func atEdge(a *arch.Arch, modules *target.Modules, mem target.Memory, pc uint64, caller bool, buffer []byte) bool {
	block := pc
	if caller {
		block--
	}
	if m := modules.Find(block); m != nil {
		if lo, hi, ok := m.Function(block); ok {
			if pc >= hi {
				return false // of a call that does not return, the function's last instruction
			}
			if from := pc - lo; from <= maxBefore {
				n, _ := mem.ReadMemory(lo, buffer[:min(hi-lo, max(maxPrologue, from+maxEpilogue))])
				code := buffer[:n]
				if a.SkipPrologue != nil && pc < a.SkipPrologue(code[:min(n, maxPrologue)], lo) {
					return true
				}
				if a.InEpilogue != nil {
					return a.InEpilogue(code, lo, pc)
				}
			}
		}
	}
	if a.ReadEpilogue == nil {
		return false
	}
	n, _ := mem.ReadMemory(pc, buffer[:maxEpilogue])
	_, out := a.ReadEpilogue(buffer[:n], pc)
	return out&arch.TearsDown != 0
}
