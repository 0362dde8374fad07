package minidump

import "sync"

// Missing is where no file was. It is safe for concurrent use; its zero value is empty.
type Missing struct {
	mu     sync.Mutex
	places map[place]bool
}

// maxMissing bounds the places that are kept: dumps may name any.
const maxMissing = 1 << 14

func (m *Missing) has(p place) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.places[p]
}

func (m *Missing) add(p place) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places == nil || len(m.places) == maxMissing {
		m.places = make(map[place]bool)
	}
	m.places[p] = true
}
