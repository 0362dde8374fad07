package frame

import "unsafe"

// RowSlotSize is the size in bytes of one slot of the cache of rows.
const RowSlotSize = unsafe.Sizeof(rowSlot{})

// SlotOf is the place of a PC's row in the cache.
func SlotOf(pc uint64) uint64 { return slotOf(pc) }

// Rooms is how many frames a stack has memory for.
func Rooms(s *Stack) int { return len(s.slabs) * slabFrames }
