package frame

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Walker walks stacks for profilers: registers and a memory in, PCs out.
// It asks the same sniffers as [Stack] and gives the same frames, but knows only the
// PC, SP, FP, RA and CFA of each. Once the rows of a stack's PCs are in its cache, a
// walk allocates nothing and asks no sniffer.
//
// If a frame needs any other register, the Walker makes the inner frames on a Stack of its
// own, so that no frame is lost for speed. That costs some allocations, and so does a stack that
// ends at memory that cannot be read.
//
// A Walker serves one goroutine at a time. Walkers of several goroutines may share Modules,
// sniffers, and a memory that is safe for concurrent use.
type Walker struct {
	table   *Table
	modules *target.Modules
	arch    *arch.Arch

	block []byte // one block of a memory that is no target.CopiedMemory
	code  []byte // of a function, for edge

	stack    Stack  // reads memory; its frames are made when this needs them
	this     Frame  // THIS, where unwindCached leaves it to unwindAsStack
	ready    bool   // this was made, but not claimed, and no inner frame was asked for
	stackOf  uint64 // the walk whose frames stack has
	walks    uint64
	memoryOf uint64 // the walk whose memory stack reads

	ctx, stepped Context // of Walk, and of Step
	interrupted  []int   // of the last Walk
}

// NewWalker makes a Walker that asks the sniffers of table, and has a cache of rows of its own.
// modules says what is mapped in the target; if it is nil, nothing is known of that. The table must
// be for the target's own descriptor ([target.Target]'s Arch), which knows which bits of a pointer
// are the code address. The Walker shares the searches that the table shares
// ([Table.ShareSearches]).
func NewWalker(modules *target.Modules, table *Table) *Walker {
	w := &Walker{table: table.Clone(), arch: table.Arch}
	w.table.ShareSearches(table.rows.shared)
	w.SetModules(modules)
	return w
}

// SetModules replaces the modules. If their generation is another one, the Walker forgets all rows.
func (w *Walker) SetModules(modules *target.Modules) {
	modules = modulesOf(modules)
	w.modules = modules
	w.table.rows.start(modules.Generation)
	w.forgetFrames()
	w.stack = Stack{table: w.table, modules: modules, arch: w.arch, dropsInner: true}
	w.stack.live = new(arch.Registers)
	w.stack.start(target.NoMemory)
	w.memoryOf, w.stackOf = 0, 0 // Step calls begin once more for a context under way
}

// Reset forgets all rows, in constant time.
func (w *Walker) Reset() {
	w.table.Reset()
	w.forgetFrames()
}

// forgetFrames drops what Unwinders keep for frames; inner frames are made once more when a walk
// under way needs them.
func (w *Walker) forgetFrames() {
	if w.stack.slots != nil {
		w.stack.dropAllSlots()
		w.stack.dropSlots(&w.this)
		w.stack.stale, w.ready = true, false
	}
}

// CacheStats returns how often the Walker's cache has had the row for a PC so far, and how often
// not.
func (w *Walker) CacheStats() CacheStats { return w.table.CacheStats() }

// Walk fills pcs with the PCs of a stack, from the innermost frame outwards. It returns how many
// there are, and why there are no more: [Limit] if pcs is full. Most PCs are return addresses,
// which are looked up at PC-1; [Walker.Interrupted] says which are not, and
// [Walker.AddressesInBlock] makes them all addresses to look up. regs has the registers of frame 0,
// mem is the stack's memory; neither may change during the walk. A nil regs has no registers, and a
// nil mem has no memory.
func (w *Walker) Walk(regs *arch.Registers, mem target.Memory, pcs []uint64) (n int, stop StopReason) {
	return w.walk(regs, mem, pcs, nil)
}

// WalkCFA is like [Walker.Walk], and fills cfas with the frames' CFAs, 0 for a frame
// that no sniffer can unwind. cfas must not be shorter than pcs, unless it is nil.
func (w *Walker) WalkCFA(regs *arch.Registers, mem target.Memory, pcs, cfas []uint64) (n int, stop StopReason) {
	if cfas != nil {
		cfas = cfas[:len(pcs)]
	}
	return w.walk(regs, mem, pcs, cfas)
}

// WalkCached is like [Walker.WalkCFA], with the rows alone that the cache has from walks before. It
// asks no sniffer, and uses no other registers than PC, SP and, if it is known, FP. So it is for
// registers of which others are not known. whole is false if that does not lead to the end of the
// stack.
func (w *Walker) WalkCached(regs *arch.Registers, mem target.Memory, pcs, cfas []uint64) (n int, whole bool) {
	if cfas != nil {
		cfas = cfas[:len(pcs)]
	}
	w.interrupted = w.interrupted[:0]
	c := &w.ctx
	if c.start(w.arch, regs) != NoReason {
		return 0, false
	}
	w.begin(c, mem)
	for n < len(pcs) {
		caller := c.Caller
		made, stop := w.unwindCached(c, pcs, cfas, n)
		if made > 0 && !caller {
			w.interrupted = append(w.interrupted, n)
		}
		if n += made; made == 0 || stop != NoReason {
			whole = stop == Outermost
			break
		}
	}
	c.noteLate()
	return n, whole
}

func (w *Walker) walk(regs *arch.Registers, mem target.Memory, pcs, cfas []uint64) (n int, stop StopReason) {
	w.interrupted = w.interrupted[:0]
	c := &w.ctx
	if stop := c.start(w.arch, regs); stop != NoReason {
		return 0, stop
	}
	w.begin(c, mem)
	if n, stop = w.resume(c, pcs, cfas); stop == NoReason {
		stop = Limit
	}
	return n, stop
}

// resume goes on with a walk, from the context's THIS on. stop is NoReason if the buffers are full.
func (w *Walker) resume(c *Context, pcs, cfas []uint64) (n int, stop StopReason) {
	for n < len(pcs) {
		var made int
		caller := c.Caller // the frames outside of it, of this call, are callers
		made, stop = w.unwindCached(c, pcs, cfas, n)
		if made > 0 && !caller {
			w.interrupted = append(w.interrupted, n)
		}
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
			if !c.next.caller || c.next.typ == SigTramp {
				w.interrupted = append(w.interrupted, n)
			}
			n++
		}
		if stop != NoReason {
			break
		}
	}
	c.noteLate()
	return n, stop
}

// Interrupted returns the positions, in ascending order, at which the last Walk or WalkCFA has put
// PCs that are no return addresses of calls: frame 0, frames that a signal or a fault has
// interrupted, the signal frames themselves (their PCs are the kernel's), and functions at their
// first byte that nothing has called. They are looked up in symbols at PC itself, all others at
// PC-1. The slice is valid until the next walk.
func (w *Walker) Interrupted() []int { return w.interrupted }

// AddressesInBlock replaces the PCs of the last Walk or WalkCFA, from frame 0 on, by the addresses
// to look up in symbols: PC-1 for a caller, else PC. pcs may be what Walk has filled, or
// a copy, also of the inner frames alone.
func (w *Walker) AddressesInBlock(pcs []uint64) {
	from := 0
	for _, at := range w.interrupted {
		if at >= len(pcs) {
			break
		}
		callersInBlock(pcs[from:at])
		from = at + 1
	}
	callersInBlock(pcs[min(from, len(pcs)):])
}

// callersInBlock turns return addresses into addresses of the calls.
func callersInBlock(pcs []uint64) {
	for i, pc := range pcs {
		if pc > 0 {
			pcs[i] = pc - 1
		}
	}
}

// MovedOn reports whether the last Walk or WalkCFA has read memory of another moment than the
// registers, because the process runs on (see [target.RunningMemory]). Then the frames may never
// have been on one stack. A [target.RunningThread] can be read once more.
func (w *Walker) MovedOn() bool { return w.ctx.MovedOn }

// begin prepares for a context's walk over a memory.
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
	if w.table.placed != nil {
		w.table.checkPlaces()
	}
}

// unwindCached unwinds frames whose rows are cached and simple, and fills the buffers from
// position at on. It returns how many frames there were. It ends when the buffers are full,
// when the stack ends, or at a frame of another kind, which unwindAsStack then
// unwinds. A frame that a Stack would check further (its CFA does not grow, or its return address
// is 0 or no code) is of another kind, too. So a Stack has the same frames.
func (w *Walker) unwindCached(c *Context, pcs, cfas []uint64, at int) (n int, stop StopReason) {
	switch {
	case w.stack.window.big:
		return unwindCached[int64](w, c, pcs, cfas, at)
	case w.arch.PtrSize == 4:
		return unwindCached[uint32](w, c, pcs, cfas, at)
	}
	return unwindCached[uint64](w, c, pcs, cfas, at)
}

// word is the type of a target's word, which is as wide as an address. The compiler makes the loops
// once for each. If it has a sign, words are big-endian in memory, as no words of 32 bits are.
type word interface{ uint32 | uint64 | int64 }

// sizeOf returns the size of a word, bytes. It is a constant.
func sizeOf[W word]() uint64 {
	if W(1)<<31<<1 != 0 {
		return 8
	}
	return 4
}

func unwindCached[W word](w *Walker, c *Context, pcs, cfas []uint64, from int) (n int, stop StopReason) {
	size := sizeOf[W]()
	rows := &w.table.rows
	slots, epoch := rows.slots, rows.epoch
	pc := c.PC
	slot := &slots[slotOf(pc)]
	caller := slotBits(0)
	if c.Caller {
		caller = slotCaller
	}
	if !slot.isSimple(pc, simple(epoch, caller)) || !c.HasSP || c.stackChanged {
		return 0, NoReason
	}
	callers := simple(epoch, slotCaller)
	mask, toSP := w.arch.AddressMask, uint64(w.arch.SPFromCFA)
	lo, data := w.stack.window.lo, w.stack.window.data
	sp, fp, hasFP := c.SP, c.FP, c.HasFP
	bound := sp - toSP - 1 // a CFA that is not above leads inward: the stack may have been changed
	if c.next.typ == Normal {
		bound = max(bound, c.next.cfa) // of the NEXT normal frame
	}
	i := from
	for i < len(pcs) {
		cfa := sp
		if slot.state.has(slotFP) {
			if !hasFP {
				break
			}
			cfa = fp
		}
		cfa = uint64(W(slot.row.CFA.At(cfa)))
		if cfa <= bound {
			break
		}
		if slot.state.has(slotLast) {
			stop = Outermost
			i = emit(pcs, cfas, i, pc, cfa)
			bound = cfa
			break
		}
		off := uint64(W(slot.row.RA.At(cfa))) - lo
		if off >= uint64(len(data)) || uint64(len(data))-off < size {
			addr := off + lo
			if lo, data = w.refill(addr); len(data) == 0 {
				break
			}
			off = addr - lo
		}
		ra := load[W](data[off:]) & mask
		saved, hasSaved := fp, hasFP
		if slot.state.has(slotSaved) {
			off := uint64(W(slot.row.FP.At(cfa))) - lo
			if off >= uint64(len(data)) || uint64(len(data))-off < size {
				break // the window ends between the two words
			}
			saved, hasSaved = load[W](data[off:]), true
		}
		outer := &slots[slot.state.outer()]
		hit := outer.isSimple(ra, callers)
		if !hit {
			index := slotOf(ra)
			if outer = &slots[index]; outer.isSimple(ra, callers) {
				slot.state.setOuter(index)
				hit = true
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
			if made, slot, pc, bound, fp = unwindLinked[W](w, slot, pc, bound, fp, pcs[i:], tail(cfas, i)); made > 0 {
				i += made
				sp = bound + toSP
			}
		}
	}
	w.stack.window.lo, w.stack.window.data = lo, data
	if n = i - from; n == 0 {
		return 0, NoReason
	}
	rows.stats.Hits += uint64(n)
	c.beyond = c.next // if n is 1; else a frame inside of it serves as well: none has the CFA of the new next
	c.next = summary{pc: pcs[i-1], cfa: bound, typ: Normal, caller: n > 1 || c.Caller}
	c.PC, c.SP, c.FP, c.HasFP = pc, sp, fp, hasFP
	if stop == NoReason {
		c.Caller, c.HasRA, c.inCode = true, false, true
	}
	c.level += n
	return n, stop
}

// tail returns a buffer from position i on, nil for a nil buffer.
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

// load reads a word.
func load[W word](p []byte) uint64 {
	switch {
	case ^W(0) < 0:
		return binary.BigEndian.Uint64(p)
	case sizeOf[W]() == 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

// blockSize is how many bytes are read at once, at most, from a memory that is no
// target.CopiedMemory.
const blockSize = 4096

// refill returns memory from lo on that has the word at addr; no data if that word cannot be read.
func (w *Walker) refill(addr uint64) (lo uint64, data []byte) {
	size := w.arch.PtrSize
	if w.stack.window.copied != nil {
		if lo, data = w.stack.window.copied.Window(addr); addr-lo < uint64(len(data)) && uint64(len(data))-(addr-lo) >= uint64(size) {
			return lo, data
		}
	}
	if w.block == nil {
		w.block = make([]byte, blockSize)
	}
	// Read to the end of a page: the next one may not be there.
	n, _ := w.stack.window.memory.ReadMemory(addr, w.block[:blockSize-addr%blockSize])
	if n < size {
		w.stack.window.note(addr, n)
		return 0, nil
	}
	if w.stack.window.movedOn(addr, n) {
		n = size // nothing would note which of the other words are used
		w.stack.window.note(addr, n)
	}
	return addr, w.block[:n]
}
