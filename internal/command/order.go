package command

import (
	"sync"
	"sync/atomic"
)

// ahead is how many results a worker may have made that nobody has used.
const ahead = 4

// inOrder calls the workers with each number below n, all of them at once, and
// use with what they make of it, in order, until use fails. Workers run ahead by
// a few results only.
func inOrder[T any](n int, workers []func(i int) T, use func(T) error) error {
	if len(workers) == 1 {
		for i := range n {
			if err := use(workers[0](i)); err != nil {
				return err
			}
		}
		return nil
	}
	room := ahead * len(workers)
	results := make([]chan T, room) // by number, modulo
	for i := range results {
		results[i] = make(chan T, 1)
	}
	begin := make(chan struct{}, room) // full: as many are begun and not used yet
	quit := make(chan struct{})
	var next atomic.Int64
	var running sync.WaitGroup
	defer running.Wait()
	defer close(quit)
	for _, work := range workers {
		running.Go(func() {
			for {
				select {
				case <-quit:
					return
				case begin <- struct{}{}:
				}
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				results[i%room] <- work(i)
			}
		})
	}
	for i := range n {
		if err := use(<-results[i%room]); err != nil {
			return err
		}
		<-begin
	}
	return nil
}
