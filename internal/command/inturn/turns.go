package inturn

import "sync"

// Turns says which of the threads that are walked at the same time may write now. A stack
// whose text is too long to keep waits for its turn.
type Turns struct {
	mu   sync.Mutex
	turn *sync.Cond
	now  int // the thread that is written; past the last one when all are written
}

// NewTurns returns turns that begin with the first thread.
func NewTurns() *Turns {
	t := &Turns{}
	t.turn = sync.NewCond(&t.mu)
	return t
}

// Wait waits for the turn of the i-th thread. It returns false if that turn never comes,
// because nobody reads the output any more.
func (t *Turns) Wait(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.now < i {
		t.turn.Wait()
	}
	return t.now == i
}

// Next gives the turn to the i-th thread.
func (t *Turns) Next(i int) {
	t.mu.Lock()
	t.now = i
	t.mu.Unlock()
	t.turn.Broadcast()
}
