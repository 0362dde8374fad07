package report

import (
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// maxRetakes is how often settle reads all threads once more because a stack was not of the
// moment of its registers.
const maxRetakes = 5

// settle has the threads ready to be printed. With --consistent, it walks them first, and reads all
// of them once more if a stack was not of the moment of its registers. Otherwise each thread is
// settled when it is walked.
func (w *walk) settle() error {
	s, ok := w.Source.(Retaker)
	if !ok || !s.OneMoment() {
		return nil
	}
	moved := w.movedOn()
	for n := 0; moved && n < maxRetakes; n++ {
		var err error
		again := func() {
			if w.threads, err = ThreadsOf(w.Source, w.flags); err == nil {
				moved = w.movedOn()
			}
		}
		if s.Retake(again) != nil {
			break // frames of another moment are marked
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// movedOn walks the threads and reports whether a stack is not of the moment of its registers.
func (of *walk) movedOn() bool {
	var moved atomic.Bool
	var mu sync.Mutex
	of.told = map[int][]language.Told{}
	var workers []func(int) struct{}
	for _, w := range of.walkers {
		workers = append(workers, func(i int) struct{} {
			if w.start(of.threads[i]) == nil {
				w.stack.RetakeIfMovedOn()
				w.readHeap(of.threads[i])
				running, ok := of.threads[i].(target.RunningThread)
				if w.stack.MovedOn() || ok && (w.values != nil || w.languages.any()) && running.MovedOn() {
					moved.Store(true)
				}
				if w.decorated != nil {
					mu.Lock()
					of.told[of.threads[i].ID()] = w.decorated.Threads
					mu.Unlock()
				}
			}
			return struct{}{}
		})
	}
	inturn.InOrder(len(of.threads), workers, func(struct{}) error { return nil })
	return moved.Load()
}
