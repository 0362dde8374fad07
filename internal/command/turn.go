package command

import "sync"

// turns says whose turn it is to write, of threads that are walked at the same time: a stack
// that is too deep to be kept until then waits for it.
type turns struct {
	mu   sync.Mutex
	turn *sync.Cond
	now  int // the thread that is written; behind the last one where none is any more
}

func newTurns() *turns {
	t := &turns{}
	t.turn = sync.NewCond(&t.mu)
	return t
}

// wait waits for the turn of the i-th thread. It reports false where that will not come, for
// nobody reads any more.
func (t *turns) wait(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.now < i {
		t.turn.Wait()
	}
	return t.now == i
}

// next makes it the turn of the i-th thread.
func (t *turns) next(i int) {
	t.mu.Lock()
	t.now = i
	t.mu.Unlock()
	t.turn.Broadcast()
}
