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
	edge := w.inPrologue(c, mem) || w.inEpilogue(c.PC, mem)
	if cached {
		slot.bits |= slotSite
		if edge {
			slot.bits |= slotEdge
		}
	}
	return edge
}

func (w *Walker) inPrologue(c *Context, mem target.Memory) bool {
	block := c.PC
	if c.Caller {
		block--
	}
	m := w.modules.Find(block)
	if m == nil || w.arch.SkipPrologue == nil {
		return false
	}
	lo, hi, ok := m.Function(block)
	if !ok || c.PC-lo > maxPrologue {
		return false
	}
	var code [maxPrologue]byte
	n, _ := mem.ReadMemory(lo, code[:min(hi-lo, maxPrologue)])
	return c.PC < w.arch.SkipPrologue(code[:n], lo)
}

func (w *Walker) inEpilogue(pc uint64, mem target.Memory) bool {
	if w.arch.ReadEpilogue == nil {
		return false
	}
	var code [maxEpilogue]byte
	n, _ := mem.ReadMemory(pc, code[:])
	_, ok := w.arch.ReadEpilogue(code[:n], pc)
	return ok
}
