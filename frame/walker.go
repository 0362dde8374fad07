package frame

import (
	"math/bits"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Walker is the profiler's way over a stack: registers and a memory in, PCs out.
// It asks the same sniffers as [Stack] and gives the same frames, but knows of each
// only PC, SP, FP, RA and CFA. Once the rows of a stack's PCs are in its cache, a
// walk allocates nothing and asks nobody.
//
// A frame that needs another register than these is unwound by a Stack that the
// walker keeps, so that no frame is lost for speed.
//
// A Walker serves one goroutine at a time. Many of them, one for each goroutine, may
// share Modules, sniffers and memory.
type Walker struct {
	table   *Table
	modules *target.Modules
	arch    *arch.Arch
	big     bool // the target's byte order

	window window
	block  []byte // of a memory that lends nothing: what was read at once

	one    Stack    // of the single frame that is asked about
	frames [3]Frame // THIS, its NEXT, and NEXT's NEXT: as much as a frame is held against
	whole  *Stack   // from frame 0 on, for frames that need it; nil until one does
	last   *Frame   // the outermost frame of whole that was asked for
	serial uint64   // of the walk that whole is of
	walks  uint64

	ctx Context // of Walk
}

// NewWalker makes a walker for what is mapped in a target, by the sniffers of a
// table. It has a cache of rows of its own.
func NewWalker(modules *target.Modules, table *Table) *Walker {
	w := &Walker{table: table.Clone(), arch: table.Arch}
	w.big = w.arch.Order.Uint16([]byte{0, 1}) == 1
	w.SetModules(modules)
	return w
}

// SetModules tells what is mapped from now on. Rows of other modules are forgotten.
func (w *Walker) SetModules(modules *target.Modules) {
	w.modules = modules
	w.table.rows.start(modules.Generation)
	w.one = Stack{table: w.table, modules: modules, arch: w.arch, partial: true}
	w.one.sentinel = Frame{Level: -1, stack: &w.one, typ: Sentinel}
	w.whole = nil
}

// Reset forgets all rows, in constant time.
func (w *Walker) Reset() { w.table.rows.reset() }

// CacheStats returns what became of the look-ups in the cache of rows so far.
func (w *Walker) CacheStats() CacheStats { return w.table.rows.stats }

// Walk fills pcs with the PCs of a stack from the innermost frame outwards and
// returns how many there are, and why there is no more: [Limit] where pcs is full.
// regs is the innermost frame's register file, mem the stack's memory; neither may
// change meanwhile.
func (w *Walker) Walk(regs *arch.Registers, mem target.Memory, pcs []uint64) (n int, stop StopReason) {
	return w.walk(regs, mem, pcs, nil)
}

// WalkCFA is like [Walker.Walk] and also fills in the frames' CFAs, 0 for a frame
// that nobody can unwind. cfas must not be shorter than pcs.
func (w *Walker) WalkCFA(regs *arch.Registers, mem target.Memory, pcs, cfas []uint64) (n int, stop StopReason) {
	return w.walk(regs, mem, pcs, cfas[:len(pcs)])
}

func (w *Walker) walk(regs *arch.Registers, mem target.Memory, pcs, cfas []uint64) (n int, stop StopReason) {
	c := &w.ctx
	if stop := c.start(w.arch, regs); stop != NoReason {
		return 0, stop
	}
	w.begin(c, mem)
	for n < len(pcs) {
		var rest []uint64
		if cfas != nil {
			rest = cfas[n:]
		}
		if n += w.fast(c, pcs[n:], rest); n == len(pcs) {
			break
		}
		pc := c.PC
		stop, made := w.slow(c)
		if made {
			pcs[n] = pc
			if cfas != nil {
				cfas[n] = c.next.cfa
			}
			n++
		}
		if stop != NoReason {
			return n, stop
		}
	}
	return n, Limit
}

// begin makes ready for a context's walk over a memory.
func (w *Walker) begin(c *Context, mem target.Memory) {
	if c.walk == 0 {
		w.walks++
		c.walk = w.walks
	}
	w.window.start(mem)
	w.one.window.start(mem)
	w.one.query = Query{Modules: w.modules, Arch: w.arch, Memory: mem}
	w.table.rows.start(w.modules.Generation)
}

// fast unwinds callers whose rows are cached and simple, until the buffer is full
// or a frame is none of these: that one is left to slow. It returns how many there
// were. For all of them a Stack would have come to the same; where it would look
// twice (the CFA does not grow, the return address is 0 or no code), fast leaves.
func (w *Walker) fast(c *Context, pcs, cfas []uint64) (n int) {
	if !c.Caller || !c.HasSP {
		return 0
	}
	rows := &w.table.rows
	slots, epoch := rows.slots, rows.epoch
	mask, toSP := w.arch.AddressMask, uint64(w.arch.SPFromCFA)
	lo, data := w.window.lo, w.window.data
	pc, sp, fp, hasFP := c.PC, c.SP, c.FP, c.HasFP
	bound, before := uint64(0), uint64(0) // CFAs of the NEXT normal frame and of its NEXT
	if c.next.typ == Normal {
		bound = c.next.cfa
	}
	last := c.next
	slot := &slots[slotOf(pc)]
	if slot.pc != pc || slot.epoch != epoch || slot.bits&(slotFast|slotCaller) != slotFast|slotCaller {
		return 0
	}
	for n < len(pcs) {
		cfa := sp
		if slot.bits&slotFP != 0 {
			if !hasFP {
				break
			}
			cfa = fp
		}
		cfa += uint64(int64(slot.row.CFA.Off))
		if cfa <= bound {
			break
		}
		at := cfa + uint64(int64(slot.row.RA.Off)) - lo
		if at >= uint64(len(data)) || uint64(len(data))-at < 8 {
			if lo, data = w.refill(at + lo); len(data) == 0 {
				break
			}
			at = cfa + uint64(int64(slot.row.RA.Off)) - lo
		}
		ra := w.load(data[at:])
		caller, hasCaller := fp, hasFP
		if slot.bits&slotSaved != 0 {
			at := cfa + uint64(int64(slot.row.FP.Off)) - lo
			if at >= uint64(len(data)) || uint64(len(data))-at < 8 {
				// FP lies beside the return address: only a window's end comes between.
				if lo, data = w.refill(at + lo); len(data) == 0 {
					break
				}
				at = cfa + uint64(int64(slot.row.FP.Off)) - lo
			}
			caller, hasCaller = w.load(data[at:]), true
		}
		if ra &= mask; ra == 0 {
			break
		}
		outer := &slots[slotOf(ra)]
		hit := outer.pc == ra && outer.epoch == epoch && outer.bits&(slotFast|slotCaller) == slotFast|slotCaller
		if !hit && !w.modules.IsCode(ra-1) && !w.modules.IsCode(ra) {
			break
		}
		pcs[n] = pc
		if cfas != nil {
			cfas[n] = cfa
		}
		n++
		before, bound = bound, cfa
		last.pc = pc
		pc, sp, fp, hasFP = ra, cfa+toSP, caller, hasCaller
		if slot = outer; !hit {
			break
		}
	}
	w.window.lo, w.window.data = lo, data
	if n == 0 {
		return 0
	}
	rows.stats.Hits += uint64(n)
	c.beyond = c.next
	if n > 1 {
		c.beyond = place{cfa: before, typ: Normal}
	}
	c.next = place{pc: last.pc, cfa: bound, typ: Normal}
	c.PC, c.SP, c.FP, c.HasFP, c.HasRA = pc, sp, fp, hasFP, false
	c.level += n
	return n
}

func (w *Walker) load(p []byte) uint64 {
	v := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
		uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
	if w.big {
		return bits.ReverseBytes64(v)
	}
	return v
}

// blockSize is how much is read at once of a memory that lends nothing.
const blockSize = 4096

// refill returns bytes around addr, of which at least the word there can be had; none
// where it cannot.
func (w *Walker) refill(addr uint64) (lo uint64, data []byte) {
	if w.window.lender != nil {
		if lo, data = w.window.lender.Window(addr); addr-lo < uint64(len(data)) && uint64(len(data))-(addr-lo) >= 8 {
			return lo, data
		}
	}
	if w.block == nil {
		w.block = make([]byte, blockSize)
	}
	// To the end of a page, for the next one may not be there.
	room := blockSize - addr%blockSize
	if room < 8 {
		room = 8
	}
	n, _ := w.window.memory.ReadMemory(addr, w.block[:room])
	if n < 8 {
		return 0, nil
	}
	return addr, w.block[:n]
}
