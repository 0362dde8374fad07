package command

import (
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target"
)

// maxRetakes is how often the threads of a picture of one moment are read once more, where
// their stacks are not of it.
const maxRetakes = 5

// settle walks the threads of a picture that is to be of one moment, as far as the flags
// ask for, and has it taken anew where some stack is not. It returns the threads to print.
// Threads that are read one by one are seen to when they are walked.
func (s *source) settle(walkers []*walker, threads []target.Thread, flags *walkFlags) ([]target.Thread, error) {
	if s.retake == nil {
		return threads, nil
	}
	moved := s.movedOn(walkers, threads)
	for n := 0; moved && n < maxRetakes; n++ {
		var err error
		again := func() {
			if threads, err = s.threads(flags); err == nil {
				moved = s.movedOn(walkers, threads)
			}
		}
		if s.retake(again) != nil {
			break // what is of another moment says so
		}
		if err != nil {
			return nil, err
		}
	}
	return threads, nil
}

// movedOn walks threads, and reports whether a stack is not of the moment of its registers.
func (s *source) movedOn(walkers []*walker, threads []target.Thread) bool {
	var moved atomic.Bool
	var workers []func(int) struct{}
	for _, w := range walkers {
		workers = append(workers, func(i int) struct{} {
			if w.start(threads[i]) == nil {
				w.stack.Settle()
				if w.stack.MovedOn() {
					moved.Store(true)
				}
			}
			return struct{}{}
		})
	}
	inOrder(len(threads), workers, func(struct{}) error { return nil })
	return moved.Load()
}
