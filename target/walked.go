package target

// WalkedMemory is the Memory of a moment at which something else has walked the stack, too, as the
// kernel does for a profiler.
type WalkedMemory interface {
	Memory
	// CallerOf returns the return address that was found behind frames with the given PCs, of which
	// the first is the innermost. ok is false if other frames were found, or none behind these.
	CallerOf(pcs []uint64) (ra uint64, ok bool)
}
