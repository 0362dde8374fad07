package breakpad

import "sync"

// Bounds on what a table of recent look-ups keeps: entries, and the bytes of their text.
const (
	maxRecent     = 1 << 13
	maxRecentText = 4 << 20
)

// recent keeps what was lately found at addresses, for the stacks of many processes have the same ones. When it is full, it forgets all.
// Many goroutines may use it at once.
type recent[T any] struct {
	mu    sync.RWMutex
	found map[uint64]T
	text  int // bytes
}

func (r *recent[T]) get(addr uint64) (found T, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	found, ok = r.found[addr]
	return found, ok
}

// put keeps what was found at addr, which keeps text bytes of the file's text in memory.
func (r *recent[T]) put(addr uint64, found T, text int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.text += text; r.found == nil || len(r.found) == maxRecent || r.text > maxRecentText {
		r.found, r.text = make(map[uint64]T), text
	}
	if text <= maxRecentText {
		r.found[addr] = found
	}
}
