package frame

import (
	"encoding/binary"
	"math/bits"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Walker is the profiler's way over a stack: registers and a memory in, PCs out.
// It asks the same sniffers as [Stack] and gives the same frames, but knows of each
// only PC, SP, FP, RA and CFA. Once the rows of a stack's PCs are in its cache, a
// walk allocates nothing and asks nobody.
//
// Where a frame needs another register than these, the inner frames are made on a Stack
// that the walker keeps, so that no frame is lost for speed. That, and a stack that ends at
// memory that cannot be read, costs some allocations.
//
// A Walker serves one goroutine at a time. Many of them, one for each goroutine, may
// share Modules, sniffers, and a memory that many may read at once.
type Walker struct {
	table   *Table
	modules *target.Modules
	arch    *arch.Arch

	block []byte // of a memory that lends nothing: what was read at once
	code  []byte // of a function, for edge

	stack    Stack  // what reads for unwindCached and unwindAsStack; its frames are made where this needs them
	this     Frame  // THIS, where unwindCached leaves it to unwindAsStack
	ready    bool   // this has been claimed by nobody, and no inner frame was asked for
	stackOf  uint64 // walk that the frames of stack are of
	walks    uint64
	memoryOf uint64 // walk that the memory is of

	ctx, stepped Context // of Walk, and of Step
}

// NewWalker makes a walker for what is mapped in a target, by the sniffers of a
// table. It has a cache of rows of its own. modules may be nil: then nothing is known of what is
// mapped. The table must be for the target's own
// descriptor ([target.Target]'s Arch), which knows which bits of a code address are one.
func NewWalker(modules *target.Modules, table *Table) *Walker {
	w := &Walker{table: table.Clone(), arch: table.Arch}
	w.SetModules(modules)
	return w
}

// SetModules tells what is mapped from now on. Rows of other modules are forgotten.
func (w *Walker) SetModules(modules *target.Modules) {
	modules = modulesOf(modules)
	w.modules = modules
	w.table.rows.start(modules.Generation)
	w.stack = Stack{table: w.table, modules: modules, arch: w.arch, dropsInner: true}
	w.stack.live = new(arch.Registers)
	w.stack.start(target.NoMemory)
	w.memoryOf, w.stackOf = 0, 0 // a context that is stepped on begins anew
}

// Reset forgets all rows, in constant time.
func (w *Walker) Reset() { w.table.Reset() }

// CacheStats returns what became of the look-ups in the cache of rows so far.
func (w *Walker) CacheStats() CacheStats { return w.table.CacheStats() }

// Walk fills pcs with the PCs of a stack from the innermost frame outwards and
// returns how many there are, and why there is no more: [Limit] where pcs is full.
// regs is the innermost frame's register file, mem the stack's memory; neither may
// change meanwhile. nil is a file without registers, and memory that cannot be read.
func (w *Walker) Walk(regs *arch.Registers, mem target.Memory, pcs []uint64) (n int, stop StopReason) {
	return w.walk(regs, mem, pcs, nil)
}

// WalkCFA is like [Walker.Walk] and also fills in the frames' CFAs, 0 for a frame
// that nobody can unwind. cfas must not be shorter than pcs, unless it is nil.
func (w *Walker) WalkCFA(regs *arch.Registers, mem target.Memory, pcs, cfas []uint64) (n int, stop StopReason) {
	if cfas != nil {
		cfas = cfas[:len(pcs)]
	}
	return w.walk(regs, mem, pcs, cfas)
}

func (w *Walker) walk(regs *arch.Registers, mem target.Memory, pcs, cfas []uint64) (n int, stop StopReason) {
	c := &w.ctx
	if stop := c.start(w.arch, regs); stop != NoReason {
		return 0, stop
	}
	w.begin(c, mem)
	for n < len(pcs) {
		var made int
		made, stop = w.unwindCached(c, pcs, cfas, n)
		if n += made; n == len(pcs) || stop != NoReason {
			break
		}
		pc := c.PC
		ok := false
		if stop, ok = w.unwindAsStack(c); ok {
			pcs[n] = pc
			if cfas != nil {
				cfas[n] = c.next.cfa
			}
			n++
		}
		if stop != NoReason {
			break
		}
	}
	c.noteLate()
	if stop == NoReason {
		stop = Limit
	}
	return n, stop
}

// MovedOn reports whether the last Walk or WalkCFA has read memory of another moment than
// the registers, of a process that runs on (target.RunningMemory): frames may never have been on
// one stack. The thread may be read once more (target.RunningThread).
func (w *Walker) MovedOn() bool { return w.ctx.MovedOn }

// begin makes ready for a context's walk over a memory.
func (w *Walker) begin(c *Context, mem target.Memory) {
	if c.walker != w {
		w.walks++
		c.walker, c.walk = w, w.walks
	}
	w.memoryOf = c.walk
	if mem == nil {
		mem = target.NoMemory
	}
	w.stack.window.start(mem, w.arch)
	w.table.rows.start(w.modules.Generation)
}

// unwindCached unwinds frames whose rows are cached and simple, filling the buffers from
// position at on, until they are full, the stack ends, or a frame is not of that kind:
// it is left to unwindAsStack. It returns how many frames there were. For all of them a Stack
// comes to the same; where it would look twice (the CFA does not grow, the return
// address is 0 or no code), unwindCached leaves the frame to unwindAsStack.
func (w *Walker) unwindCached(c *Context, pcs, cfas []uint64, at int) (n int, stop StopReason) {
	rows := &w.table.rows
	slots, epoch := rows.slots, rows.epoch
	pc := c.PC
	slot := &slots[slotOf(pc)]
	caller := slotBits(0)
	if c.Caller {
		caller = slotCaller
	}
	if !slot.isSimple(pc, epoch, caller) || !c.HasSP || c.stackChanged {
		return 0, NoReason
	}
	mask, toSP := w.arch.AddressMask, uint64(w.arch.SPFromCFA)
	lo, data, big := w.stack.window.lo, w.stack.window.data, w.stack.window.big
	sp, fp, hasFP := c.SP, c.FP, c.HasFP
	bound := sp - toSP - 1 // a frame that leads inward may have changed stacks
	if c.next.typ == Normal {
		bound = max(bound, c.next.cfa) // of the NEXT normal frame
	}
	i := at
	for i < len(pcs) {
		cfa := sp
		if slot.bits&slotFP != 0 {
			if !hasFP {
				break
			}
			cfa = fp
		}
		cfa = slot.row.CFA.At(cfa)
		if cfa <= bound {
			break
		}
		if slot.bits&slotLast != 0 {
			stop = Outermost
			i = emit(pcs, cfas, i, pc, cfa)
			bound = cfa
			break
		}
		off := slot.row.RA.At(cfa) - lo
		if off >= uint64(len(data)) || uint64(len(data))-off < 8 {
			addr := off + lo
			if lo, data = w.refill(addr); len(data) == 0 {
				break
			}
			off = addr - lo
		}
		ra := load(data[off:], big) & mask
		saved, hasSaved := fp, hasFP
		if slot.bits&slotSaved != 0 {
			off := slot.row.FP.At(cfa) - lo
			if off >= uint64(len(data)) || uint64(len(data))-off < 8 {
				break // the window ends between the two words
			}
			saved, hasSaved = load(data[off:], big), true
		}
		outer := &slots[slot.outer%rowSlots]
		hit := outer.isSimple(ra, epoch, slotCaller)
		if !hit {
			at := slotOf(ra)
			if outer = &slots[at]; outer.isSimple(ra, epoch, slotCaller) {
				slot.outer, hit = uint16(at), true
			}
		}
		if !hit && (ra == 0 || !w.modules.IsCode(ra-1) && !w.modules.IsCode(ra)) {
			break
		}
		i = emit(pcs, cfas, i, pc, cfa)
		bound = cfa
		slot, pc, sp, fp, hasFP = outer, ra, cfa+toSP, saved, hasSaved
		if !hit {
			break
		}
		if hasFP {
			w.stack.window.lo, w.stack.window.data = lo, data
			var made int
			if made, slot, pc, bound, fp = w.unwindLinked(slot, pc, bound, fp, pcs[i:], tail(cfas, i)); made > 0 {
				i += made
				sp = bound + toSP
			}
		}
	}
	w.stack.window.lo, w.stack.window.data = lo, data
	if n = i - at; n == 0 {
		return 0, NoReason
	}
	rows.stats.Hits += uint64(n)
	c.beyond = c.next // or a frame further out; none of them has the CFA that next has now
	c.next = summary{pc: pcs[i-1], cfa: bound, typ: Normal}
	c.PC, c.SP, c.FP, c.HasFP = pc, sp, fp, hasFP
	if stop == NoReason {
		c.Caller, c.HasRA, c.inCode = true, false, true
	}
	c.level += n
	return n, stop
}

// tail returns what is left of a buffer from position i on, nil of none.
func tail(buffer []uint64, i int) []uint64 {
	if buffer == nil {
		return nil
	}
	return buffer[i:]
}

// emit puts a frame into the buffers.
func emit(pcs, cfas []uint64, i int, pc, cfa uint64) int {
	pcs[i] = pc
	if cfas != nil {
		cfas[i] = cfa
	}
	return i + 1
}

// load reads a word of the byte order.
func load(p []byte, big bool) uint64 {
	v := binary.LittleEndian.Uint64(p)
	if big {
		return bits.ReverseBytes64(v)
	}
	return v
}

// blockSize is how much is read at once of a memory that lends nothing.
const blockSize = 4096

// refill returns bytes around addr, at least the word there; none if that word cannot be read.
func (w *Walker) refill(addr uint64) (lo uint64, data []byte) {
	if w.stack.window.copied != nil {
		if lo, data = w.stack.window.copied.Window(addr); addr-lo < uint64(len(data)) && uint64(len(data))-(addr-lo) >= 8 {
			return lo, data
		}
	}
	if w.block == nil {
		w.block = make([]byte, blockSize)
	}
	// To the end of a page, for the next one may not be there.
	n, _ := w.stack.window.memory.ReadMemory(addr, w.block[:blockSize-addr%blockSize])
	if n < 8 {
		w.stack.window.note(addr, n)
		return 0, nil
	}
	if w.stack.window.movedOn(addr, n) {
		n = 8 // which of the others are used nobody would know
		w.stack.window.note(addr, n)
	}
	return addr, w.block[:n]
}
