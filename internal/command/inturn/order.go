package inturn

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/command/pace"
)

// Ahead is how many results of one worker may wait to be used.
const Ahead = 4

// InOrder calls one of the workers for each i below n. All workers run at the same time, and
// ahead of use by a few results only. use gets the results in the order of i, until it
// returns an error.
func InOrder[T any](n int, workers []func(i int) T, use func(T) error) error {
	if len(workers) == 1 {
		for i := range n {
			if err := use(workers[0](i)); err != nil {
				return err
			}
		}
		return nil
	}
	room := Ahead * len(workers)
	results := make([]chan T, room) // by number, modulo
	for i := range results {
		results[i] = make(chan T, 1)
	}
	begin := make(chan struct{}, room) // one element for each result that is begun and not used
	quit := make(chan struct{})
	var next atomic.Int64
	var running sync.WaitGroup
	defer running.Wait()
	defer close(quit)
	for _, work := range workers {
		running.Go(func() {
			pace.GrowStack()
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
				// Else the run time would interrupt the worker by a signal each ten milliseconds,
				// and look into its tables.
				runtime.Gosched()
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
