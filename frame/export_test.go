package frame

import "unsafe"

// RowSlotSize is the size in bytes of one slot of the cache of rows.
const RowSlotSize = unsafe.Sizeof(rowSlot{})

// SlotOf returns the index of a PC's slot in the cache of rows.
func SlotOf(pc uint64) uint64 { return slotOf(pc) }

// FramesAllocated returns how many frames a stack has memory for.
func FramesAllocated(s *Stack) int { return len(s.slabs) * slabFrames }

// LastEpoch has a walker's cache of rows be in its last epoch.
func LastEpoch(w *Walker) { w.table.rows.epoch = lastEpoch }
