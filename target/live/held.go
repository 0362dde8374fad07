package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/target"
)

// Held is the memory of a process all of whose threads are held. It is read as it is, without
// copies of an earlier moment. It implements [target.Memory], and must not be used after the call
// that it was given to. Until then, it is safe for concurrent use: two processors copy faster than
// one.
type Held struct {
	read func(addr uint64, p []byte) int
	copy func(list []span) []block // ascending, disjoint

	threads <-chan struct{} // closed when the threads' stacks are copied
}

// AwaitThreads returns when the stacks of the process's threads are copied: another processor does
// that from the beginning. Threads returns the new threads from then on.
func (h *Held) AwaitThreads() { <-h.threads }

// ReadMemory implements [target.Memory].
func (h *Held) ReadMemory(addr uint64, p []byte) (int, error) {
	if n := h.read(addr, p); n < len(p) {
		return n, target.ErrUnmapped
	}
	return len(p), nil
}

// Now returns the process's memory as it is when it is read: without the copies that
// [Target.Memory] has, and without making some.
func (t *Target) Now() target.Memory {
	if m, ok := t.memory.(*memory); ok {
		return now{m.live}
	}
	return t.memory
}

// now is the memory of a process without copies.
type now struct{ live *pageCache }

// ReadMemory implements [target.Memory].
func (m now) ReadMemory(addr uint64, p []byte) (int, error) {
	n, err := m.live.fetch(addr, p)
	if err == nil && n < len(p) {
		err = target.ErrUnmapped
	}
	return n, err
}

// Range is a range of addresses, from Lo on to below Hi.
type Range struct{ Lo, Hi uint64 }

// Copy is a copy of memory from Lo on.
type Copy struct {
	Lo   uint64
	Data []byte
}

// Copy copies ranges in as few calls as the kernel allows, and returns the copies by ascending
// address. Of ranges that overlap, the parts are copied once. What cannot be read is left out.
func (h *Held) Copy(ranges []Range) []Copy {
	spans := make([]span, 0, len(ranges))
	for _, r := range ranges {
		if r.Lo < r.Hi {
			spans = append(spans, span{r.Lo, r.Hi})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	disjoint := spans[:0]
	end := uint64(0)
	for _, s := range spans {
		if s.lo = max(s.lo, end); s.lo < s.hi {
			disjoint = append(disjoint, s)
			end = s.hi
		}
	}
	blocks := h.copy(disjoint)
	list := make([]Copy, len(blocks))
	for i, b := range blocks {
		list[i] = Copy{b.lo, b.data}
	}
	return list
}

// Kept is what snapshots have beside threads and their stacks: see [Target.Keep].
type Kept struct {
	Copies []Copy // of the moment of the threads, as [Held.Copy] returns them
	// Later are ranges that were not copied. Snapshot copies them, as long as there is room within
	// Options.MaxCopied, and marks them as of a later moment.
	Later []Range
	Clock time.Duration // CLOCK_MONOTONIC at the moment of the threads; 0 if it is not known
}

// Keep has [Target.Snapshot] save k, too. It replaces what was kept before. The copies must not
// change any more.
func (t *Target) Keep(k Kept) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = k
}

// RetakeWith is [Target.Retake] for a caller that needs more memory of the same moment than stacks:
// it calls also once while all threads are held. They go on when also returns, so it should only
// copy. Threads returns the new threads after [Held.AwaitThreads]. walk is called when they run
// again.
//
// room is about how many bytes will be copied: memory for them is made ready before.
func (t *Target) RetakeWith(room int, also func(*Held), walk func()) error {
	if !t.Consistent {
		return errNotConsistent
	}
	t.retaking.Lock()
	defer t.retaking.Unlock()
	return t.files.retakeAll(t, room, also, walk)
}
