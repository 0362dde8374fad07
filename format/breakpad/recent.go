package breakpad

import "sync"

// Bounds on what tables of recent look-ups keep: entries, and the bytes that these take.
const (
	maxRecent  = 1 << 13
	maxLocated = 4 << 20
	maxRuled   = 4 << 20
	maxRecords = 4 << 20
	maxParsed  = 16 << 20
)

// recordSize is the memory that a record takes beside its text, bytes.
const recordSize = 128

// recent keeps what was lately found at addresses, or at offsets of the file, for the stacks of
// many processes have the same ones. When it is full, it forgets all; it always keeps the last,
// whose size nothing but the file's bounds. Many goroutines may use it at once.
type recent[T any] struct {
	mu    sync.RWMutex
	found map[uint64]T
	size  int // bytes
}

func (r *recent[T]) get(key uint64) (found T, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	found, ok = r.found[key]
	return found, ok
}

// put keeps what was found, which takes size bytes. most bounds the bytes of all.
func (r *recent[T]) put(key uint64, found T, size, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += size; r.found == nil || len(r.found) == maxRecent || r.size > most {
		r.found, r.size = make(map[uint64]T), size
	}
	r.found[key] = found
}
