package v8

import (
	"sync"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// moment is the heap as it was read for stacks of one [language.Stack.Moment].
type moment struct {
	mu     sync.Mutex
	number uint64
	heap   *heap // nil while a stack is decorated with it
}

// takeHeap returns a heap to decorate a stack with.
func (e *engine) takeHeap(s *language.Stack) *heap {
	memory := s.Memory
	if s.Moment != 0 {
		if h := e.moment.take(s.Moment); h != nil {
			h.Err()
			h.stack, h.effort = s.Memory, 0
			return h
		}
		memory = e.memory // without the stack, which others do not share
	}
	h := newHeap(structs.New(s.Arch, memory, &e.pages), e.layout)
	if s.Moment != 0 {
		h.stack = s.Memory
	}
	if s.FramesAlone {
		h.kept = &e.kept
	}
	return h
}

// giveHeap says that a stack was decorated.
func (e *engine) giveHeap(s *language.Stack, h *heap) {
	if s.Moment != 0 {
		h.stack = nil
		h = e.moment.give(s.Moment, h)
	}
	if h != nil {
		h.Free()
	}
}

// take returns the heap of a moment, nil if there is none.
func (m *moment) take(number uint64) (h *heap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.number == number {
		h, m.heap = m.heap, nil
	}
	return h
}

// give keeps the heap of a moment. It returns the one that is not kept any more.
func (m *moment) give(number uint64, h *heap) (other *heap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if number < m.number {
		return h
	}
	other, m.heap, m.number = m.heap, h, number
	return other
}
