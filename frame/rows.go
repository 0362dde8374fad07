package frame

import (
	"sync"

	"github.com/sfwalk/sfwalk/trad"
)

// rowSlots is how many rows a table keeps: a power of two. They take 256 KiB, and are seldom all
// in use, because stacks have few distinct PCs.
const rowSlots = 1 << 12

// rowCache is a direct-mapped cache of rows, by the PCs that were looked up, for one
// generation of a target's modules.
type rowCache struct {
	slots      *[rowSlots]rowSlot
	epoch      uint32 // slots of another epoch are empty
	generation uint64
	stats      CacheStats

	laterRows *[laterRowSlots]*laterRow
	inVain    *[vainSlots]vainSlot
	shared    *SharedSearches // with other tables of the target; may be nil
}

// vainSlots is how many PCs are kept at which searches have found nothing. vainFrames is after
// how many such frames at a PC no more searches are made.
const vainSlots, vainFrames = 1 << 10, 8

type vainSlot struct {
	pc, block uint64
	epoch     uint32
	frames    uint32
}

// laterRowSlots is how many later rows are kept, by PC.
const laterRowSlots = 1 << 10

// laterRow returns the slot for the row that completes a PC's row.
func (c *rowCache) laterRow(pc uint64) **laterRow {
	if c.laterRows == nil {
		c.laterRows = new([laterRowSlots]*laterRow)
	}
	return &c.laterRows[(pc^pc>>10)%laterRowSlots]
}

// CacheStats counts look-ups in a cache of rows by their results.
type CacheStats struct {
	Hits       uint64 // the row was there
	Misses     uint64 // it was not: sniffers were asked
	Collisions uint64 // misses whose row took the place of another PC's
}

// rowSlot is one cache line: the row's 48 bytes, its key, and how
// Walker.unwindCached can apply the row.
type rowSlot struct {
	row   trad.Row
	pc    uint64
	state slotState
}

// slotState is what a walk must know of a slot beside the row, in one word: to read and to compare
// it takes one instruction each. From the low bits on:
//
//	30 bits  the epoch in which the slot was filled
//	 8 bits  slotBits; with the two lowest, 32 bits say whether a walk can use the slot
//	 8 bits  the position in the table of the sniffer that gave the row
//	 6 bits  nothing
//	12 bits  the slot where PREVIOUS's row was the last time. The Walker looks there first, so that it need
//	         not wait until the return address is read.
type slotState uint64

const (
	bitsAt   = 30
	winnerAt = bitsAt + 8
	outerAt  = 64 - 12

	lastEpoch = 1<<bitsAt - 1
)

func (s slotState) epoch() uint32         { return uint32(s) & lastEpoch }
func (s slotState) bits() slotBits        { return slotBits(s >> bitsAt) }
func (s slotState) winner() int           { return int(uint8(s >> winnerAt)) }
func (s slotState) outer() uint64         { return uint64(s >> outerAt) }
func (s slotState) has(b slotBits) bool   { return s&(slotState(b)<<bitsAt) != 0 }
func (s slotState) is(simple uint32) bool { return uint32(s) == simple }

// add sets bits.
func (s *slotState) add(b slotBits) { *s |= slotState(b) << bitsAt }

// setOuter sets the slot where PREVIOUS's row is.
func (s *slotState) setOuter(index uint64) { *s = *s&(1<<outerAt-1) | slotState(index)<<outerAt }

// simple has the low bits of slotState for slots of an epoch whose rows [Walker.unwindCached] can
// apply. caller is slotCaller if their PCs are return addresses, else 0.
func simple(epoch uint32, caller slotBits) uint32 {
	return epoch | uint32(slotSimple|caller)<<bitsAt
}

// slotBits describe a slot.
type slotBits uint8

const (
	slotCaller    slotBits = 1 << iota // the PC is a return address: it was looked up at PC-1
	slotSimple                         // [Walker.unwindCached] can apply the row
	slotLast                           // of a simple row: it is the outermost frame's
	slotFP                             // of a simple row: the CFA is found from FP, not SP
	slotSaved                          // of a simple row: FP is saved in memory, not unchanged
	slotEdgeKnown                      // slotEdge is valid
	slotEdge                           // the PC is in a prologue or epilogue
)

// maxWinner is the last position in a table whose sniffer's rows are cached.
const maxWinner = 255

// start forgets all rows if the modules' generation is another one than theirs.
func (c *rowCache) start(generation uint64) {
	if c.slots == nil || c.generation != generation {
		c.renew(generation)
	}
}

func (c *rowCache) renew(generation uint64) {
	if c.slots == nil {
		if old, _ := released.Get().(*releasedSlots); old != nil {
			c.slots, c.epoch = old.slots, old.epoch
			c.empty()
		} else {
			c.slots, c.epoch = new([rowSlots]rowSlot), 1
		}
	} else {
		c.reset()
	}
	c.generation = generation
}

// released has slots of tables that are no longer used: to clear new ones takes longer than to walk
// a few short stacks.
var released sync.Pool // of *releasedSlots

type releasedSlots struct {
	slots *[rowSlots]rowSlot
	epoch uint32 // of the last table's rows
}

// reset forgets all rows, in constant time.
func (c *rowCache) reset() {
	c.laterRows = nil
	if c.shared != nil {
		c.shared.forget()
	}
	if c.slots != nil {
		c.empty()
	}
}

func (c *rowCache) empty() {
	if c.epoch++; c.epoch > lastEpoch {
		clear(c.slots[:])
		c.epoch = 1
	}
}

// slotOf returns the index of a PC's slot. Return addresses of one function
// differ in their low bits, functions of one module in the middle ones.
func slotOf(pc uint64) uint64 { return (pc ^ pc>>12) % rowSlots }

// is reports whether the slot has the row of pc. caller says whether pc is a return address.
func (s *rowSlot) is(pc uint64, epoch uint32, caller bool) bool {
	return s.pc == pc && s.state.epoch() == epoch && s.state.has(slotCaller) == caller
}

// isSimple reports whether the slot has the row of pc, and is as simple says.
func (s *rowSlot) isSimple(pc uint64, simple uint32) bool {
	return s.pc == pc && s.state.is(simple)
}

// find returns the slot for a PC, and whether it has the PC's row.
func (c *rowCache) find(pc uint64, caller bool) (slot *rowSlot, ok bool) {
	slot = &c.slots[slotOf(pc)]
	if slot.is(pc, c.epoch, caller) {
		c.stats.Hits++
		return slot, true
	}
	c.stats.Misses++
	return slot, false
}

// put fills a slot with the row that the sniffer at position winner gave for this; bits say how
// [Walker.unwindCached] can apply it.
func (c *rowCache) put(slot *rowSlot, row *trad.Row, this *Frame, winner int, bits slotBits) {
	if winner > maxWinner {
		return
	}
	if slot.state.epoch() == c.epoch {
		c.stats.Collisions++
	}
	if this.caller {
		bits |= slotCaller
	}
	slot.row = *row
	slot.pc = this.pc
	slot.state = slotState(c.epoch) | slotState(bits)<<bitsAt | slotState(winner)<<winnerAt
}

// takeShared fills a slot with the row that another table's search has found for this, and reports
// whether there is one.
func (c *rowCache) takeShared(slot *rowSlot, t *Table, this *Frame) bool {
	known, ok := c.shared.row(c.generation, searched{this.pc, this.caller})
	if ok {
		c.put(slot, &known.row, this, known.winner, t.simpleBits(&known.row, known.winner))
	}
	return ok && known.winner <= maxWinner
}

// simpleBits returns whether and how [Walker.unwindCached] can apply a row. It can if the CFA
// is found from SP or FP, the return address and perhaps FP are saved at distances from the
// CFA, PREVIOUS's SP is what the ABI says, and the frame is a normal one, or the outermost. A guess
// competes with others at each frame (see contest).
func (t *Table) simpleBits(row *trad.Row, winner int) slotBits {
	a := t.Arch
	if t.unwinders[winner] != nil {
		return 0
	}
	if row.Flags&(typed|trad.Injected|trad.Once|trad.Guess) != 0 || row.CFA.Kind != trad.InReg {
		return 0
	}
	bits := slotSimple
	switch row.CFA.Reg {
	case a.SP:
	case a.FP:
		bits |= slotFP
	default:
		return 0
	}
	if row.Flags&trad.Outermost != 0 {
		return bits | slotLast
	}
	if row.RA.Kind != trad.Saved || row.Others.Lists(a.SP) {
		return 0
	}
	switch row.FP.Kind {
	case trad.Same:
	case trad.Saved:
		bits |= slotSaved
	default:
		return 0
	}
	return bits
}
