package report

import (
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target"
)

// maxRetakes is how often settle reads all threads once more because a stack was not of the
// moment of its registers.
const maxRetakes = 5

// settle returns the threads to print. With --consistent, it walks them first, and reads all
// of them once more if a stack was not of the moment of its registers. Otherwise each thread is
// settled when it is walked.
func (s *Source) settle(walkers []*Walker, threads []target.Thread, flags *Flags) ([]target.Thread, error) {
	if s.Retake == nil {
		return threads, nil
	}
	moved := s.movedOn(walkers, threads)
	for n := 0; moved && n < maxRetakes; n++ {
		var err error
		again := func() {
			if threads, err = s.ThreadsOf(flags); err == nil {
				moved = s.movedOn(walkers, threads)
			}
		}
		if s.Retake(again) != nil {
			break // frames of another moment are marked
		}
		if err != nil {
			return nil, err
		}
	}
	return threads, nil
}

// movedOn walks the threads and reports whether a stack is not of the moment of its registers.
func (s *Source) movedOn(walkers []*Walker, threads []target.Thread) bool {
	var moved atomic.Bool
	var workers []func(int) struct{}
	for _, w := range walkers {
		workers = append(workers, func(i int) struct{} {
			if w.start(threads[i]) == nil {
				w.stack.RetakeIfMovedOn()
				w.memory = target.MemoryOf(w.Target, threads[i])
				w.readValues()
				running, ok := threads[i].(target.RunningThread)
				if w.stack.MovedOn() || ok && w.reader != nil && running.MovedOn() {
					moved.Store(true)
				}
			}
			return struct{}{}
		})
	}
	InOrder(len(threads), workers, func(struct{}) error { return nil })
	return moved.Load()
}
