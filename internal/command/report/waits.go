package report

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/waitfor"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// waitOf returns for what a thread waits; nil if that is not known. A goroutine waits in a system
// call if its thread does.
func waitOf(s Source, found *waits.Graph, th target.Thread) *waits.Entry {
	inner := s
	if g, ok := th.(*goroutines.Thread); ok {
		of, ok := s.(*goroutineSource)
		if !ok || g.RunBy == nil || g.Goroutine.Status != goroutine.Syscall {
			return nil
		}
		inner, th = of.Source, g.RunBy
	} else if e := found.Of(th.ID()); e != nil {
		return e
	}
	if w, ok := inner.(Waiter); ok {
		return w.Wait(th)
	}
	return nil
}

// lockFrames is how many inner frames of a thread tell for which kind of lock it waits.
const lockFrames = 8

// lockIn returns for which kind of lock a thread waits that is in futex(2) and in these functions.
func lockIn(at []symbol.Location) waitfor.Kind {
	for i := range at {
		if k := waitfor.KindOf(at[i].Function); k != waitfor.Unknown {
			return k
		}
	}
	return waitfor.Unknown
}

// noteLock notes for the hints that the thread that was walked waits for a lock. Idle threads wait
// for conditions and semaphores, and the first one of a process often for the end of the others:
// these are none.
func (w *Walker) noteLock(th target.Thread) {
	switch w.lock {
	case waitfor.Mutex, waitfor.RWLock, waitfor.File, waitfor.Once:
	case waitfor.End:
		if th.ID() == w.Target.From().Process.PID {
			return
		}
	default:
		return
	}
	if !w.Target.From().Process.Live || OneMoment(w.Target) {
		return
	}
	var r arch.Registers
	if th.Registers(&r) != nil {
		return
	}
	a := w.Target.Arch()
	pc, ok := r.Get(a.PC)
	var code [arch.SystemCallCode]byte
	if n, _ := target.MemoryOf(w.Target, th).ReadMemory(pc-arch.SystemCallCode/2, code[:]); !ok || n < len(code) {
		return
	}
	if _, waits := a.Futex(&r, code[:]); waits {
		w.seen.AddWaiting(th.ID(), w.lock == waitfor.End)
	}
}

// waits finds out which thread waits for which, for all walkers. It is empty if the threads are not
// of one moment, or if threads of other moments, or processes, are added.
func (s *walk) waits() *waits.Graph {
	found := s.whoWaits()
	for _, w := range s.walkers {
		w.found = found
	}
	return found
}

func (s *walk) whoWaits() *waits.Graph {
	own := s.ownThreads()
	if !OneMoment(s.Source) || len(s.walkers) == 0 || s.flags.Sum.Later {
		return waits.Unrelated(own)
	}
	w := s.walkers[0]
	opts := waits.Options{Symbols: s.symbols, OwnThreads: own, Stack: func(th target.Thread) *frame.Stack {
		if w.start(th) != nil {
			return nil
		}
		return w.stack
	}}
	if !s.flags.NoLines {
		opts.Variables = func() *symbol.Symbolizer { return ownSymbolizer(s.Source, s.flags, true) }
	}
	opts.Told = s.allTold()
	return waits.Find(s.Source, opts)
}

// ownThreads returns what tells the threads by the IDs that the process has for them; nil if these
// are this machine's.
func (s *walk) ownThreads() func() map[int]int {
	if inside, ok := s.Source.(Container); ok {
		return inside.OwnThreads
	}
	return nil
}

// suspected returns the threads that may be in a deadlock, where they are not of one moment.
func (s *walk) suspected() (tids []int) {
	if s.languages == nil || len(s.languages.locked) < 2 || OneMoment(s.Source) {
		return nil
	}
	for _, d := range waits.Suspected(s.languages.locked, s.ownThreads()) {
		tids = append(tids, d.Threads...)
	}
	return tids
}

// allTold returns what languages know of all threads, also of threads that are not printed.
func (s *walk) allTold() map[int][]language.Told {
	if !s.languages.any() {
		return nil
	}
	threads, err := s.Threads()
	if err != nil {
		return nil
	}
	told, w := map[int][]language.Told{}, s.walkers[0]
	for _, th := range threads {
		if list, ok := s.told[th.ID()]; ok {
			told[th.ID()] = list
		} else if w.start(th) == nil {
			if w.decorate(th); w.decorated != nil {
				told[th.ID()] = w.decorated.Threads
			}
		}
	}
	return told
}
