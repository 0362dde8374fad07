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
	if cached && slot.bits&slotEdgeKnown != 0 {
		return slot.bits&slotEdge != 0
	}
	edge := w.atEdge(c, mem)
	if cached {
		slot.bits |= slotEdgeKnown
		if edge {
			slot.bits |= slotEdge
		}
	}
	return edge
}

func (w *Walker) atEdge(c *Context, mem target.Memory) bool {
	if w.code == nil {
		w.code = make([]byte, maxBefore+maxEpilogue)
	}
	a, block := w.arch, c.PC
	if c.Caller {
		block--
	}
	if m := w.modules.Find(block); m != nil {
		if lo, hi, ok := m.Function(block); ok {
			if c.PC >= hi {
				return false // of a call that does not return, the function's last instruction
			}
			if from := c.PC - lo; from <= maxBefore {
				n, _ := mem.ReadMemory(lo, w.code[:min(hi-lo, max(maxPrologue, from+maxEpilogue))])
				code := w.code[:n]
				if a.SkipPrologue != nil && c.PC < a.SkipPrologue(code[:min(n, maxPrologue)], lo) {
					return true
				}
				if a.InEpilogue != nil {
					return a.InEpilogue(code, lo, c.PC)
				}
			}
		}
	}
	if a.ReadEpilogue == nil {
		return false
	}
	n, _ := mem.ReadMemory(c.PC, w.code[:maxEpilogue])
	_, out := a.ReadEpilogue(w.code[:n], c.PC)
	return out&arch.TearsDown != 0
}
