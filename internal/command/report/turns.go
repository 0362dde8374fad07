package report

import "sync"

// turns says which of the threads that are walked at the same time may write now. A stack
// whose text is too long to keep waits for its turn.
type turns struct {
	mu   sync.Mutex
	turn *sync.Cond
	now  int // the thread that is written; past the last one when all are written
}

func newTurns() *turns {
	t := &turns{}
	t.turn = sync.NewCond(&t.mu)
	return t
}

// wait waits for the turn of the i-th thread. It returns false if that turn never comes,
// because nobody reads the output any more.
func (t *turns) wait(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.now < i {
		t.turn.Wait()
	}
	return t.now == i
}

// next gives the turn to the i-th thread.
func (t *turns) next(i int) {
	t.mu.Lock()
	t.now = i
	t.mu.Unlock()
	t.turn.Broadcast()
}
