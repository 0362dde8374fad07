package frame

import "github.com/sfwalk/sfwalk/trad"

// rowSlots is how many rows a table keeps: a power of two. A stack has few
// distinct PCs, so that this is 256 KiB well used and seldom full.
const rowSlots = 1 << 12

// rowCache keeps rows by the PC that was asked for: direct-mapped, one slot a
// PC, for one generation of a target's modules.
type rowCache struct {
	slots      []rowSlot
	generation uint64
}

// rowSlot is one cache line: the row's 48 bytes and its key.
type rowSlot struct {
	row    trad.Row
	pc     uint64
	winner uint16 // position in the table of the sniffer that gave the row, plus one; 0 for an empty slot
	caller bool   // the PC is a return address: it was looked up at PC-1
}

func (c *rowCache) slot(pc uint64, generation uint64) *rowSlot {
	if c.slots == nil {
		c.slots = make([]rowSlot, rowSlots)
	} else if c.generation != generation {
		clear(c.slots)
	}
	c.generation = generation
	// Return addresses of one function differ in their low bits, functions of one
	// module in the middle ones.
	return &c.slots[(pc^pc>>12)%rowSlots]
}
