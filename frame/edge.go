package frame

import "github.com/sfwalk/sfwalk/target"

const (
	maxPrologue = 512 // bytes of a function that are read to find its prologue's end
	maxEpilogue = 64
)

// edge reports whether a context's PC is in a prologue or an epilogue, by the code of
// its function. What is found is kept with the PC's row.
func (w *Walker) edge(c *Context, mem target.Memory) bool {
	slot := &w.table.rows.slots[slotOf(c.PC)]
	cached := slot.is(c.PC, w.table.rows.epoch, c.Caller)
	if cached && slot.bits&slotSite != 0 {
		return slot.bits&slotEdge != 0
	}
	edge := w.atEdge(c, mem)
	if cached {
		slot.bits |= slotSite
		if edge {
			slot.bits |= slotEdge
		}
	}
	return edge
}

func (w *Walker) atEdge(c *Context, mem target.Memory) bool {
	if w.code == nil {
		w.code = make([]byte, maxPrologue)
	}
	block := c.PC
	if c.Caller {
		block--
	}
	if m := w.modules.Find(block); m != nil {
		if lo, hi, ok := m.Function(block); ok {
			if c.PC >= hi {
				return false // of a call that does not return, the function's last instruction
			}
			if w.inPrologue(c.PC, lo, hi, mem) {
				return true
			}
		}
	}
	if w.arch.ReadEpilogue == nil {
		return false
	}
	n, _ := mem.ReadMemory(c.PC, w.code[:maxEpilogue])
	_, ok := w.arch.ReadEpilogue(w.code[:n], c.PC)
	return ok
}

func (w *Walker) inPrologue(pc, lo, hi uint64, mem target.Memory) bool {
	if w.arch.SkipPrologue == nil || pc-lo > maxPrologue {
		return false
	}
	n, _ := mem.ReadMemory(lo, w.code[:min(hi-lo, maxPrologue)])
	return pc < w.arch.SkipPrologue(w.code[:n], lo)
}
