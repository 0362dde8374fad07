package record

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/record/internal/ring"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// wall samples processes by short stops: each thread is stopped, read and let go, whether it runs
// or waits. One that has not run since its last sample is left alone.
type wall struct {
	*engine
	mu      *sync.Mutex // held while engine changes
	machine *machine
	last    map[int32]time.Time // when each thread was sampled, by its ID
	looked  time.Time           // when the processes' children were looked for
	pids    []int               // that are sampled
	begun   bool                // a process was sampled
	watch   live.Watch
	rests   map[int32]*rest  // by thread ID
	reads   int              // how many of rests have reads
	turns   map[int32]uint64 // of each thread, when it was looked at last
	fixed   map[int32]*fixed // by thread ID

	sleepers live.Sleepers
	// hookAsleep is called with each sample of a thread that was not stopped; tests stop it then.
	hookAsleep func(p *space, th *live.Thread, again *live.Retaker)
}

// maxPart is how much of the time a process is read at most, one part of so many.
const maxPart = 5

// lookForChildren is how often the children of processes are looked for.
const lookForChildren = time.Second

// run samples until ctx is done, or the processes have ended. If the time is over before that, the
// first round is whole all the same: a profile of a slow machine has each thread once.
func (w *wall) run(ctx context.Context, over time.Duration) error {
	every := time.Second / time.Duration(w.opts.Frequency)
	timed, cancel := context.WithTimeout(ctx, over)
	defer cancel()
	for whole := !w.begun; ; whole = false {
		until := timed
		if whole {
			until = ctx
		}
		begin := time.Now()
		if begin.Sub(w.looked) >= lookForChildren {
			w.mu.Lock()
			w.forgetThreads(w.looked)
			w.mu.Unlock()
			w.looked = begin
			w.pids = withChildren(w.pids)
		}
		for _, pid := range w.pids {
			if err := w.round(until, pid, begin, every); err != nil && until.Err() == nil {
				if !w.begun && slices.Contains(w.opts.PIDs, pid) {
					return err
				}
				w.mu.Lock()
				w.opts.Warn("%v", err)
				w.mu.Unlock()
				w.drop(pid)
			}
		}
		if len(w.pids) == 0 || timed.Err() != nil {
			return nil
		}
		// The times between two rounds differ, so that they do not keep step with what programs do.
		pause := every*3/4 + rand.N(every/2+1) - time.Since(begin)
		select {
		case <-time.After(max(pause, (maxPart-1)*time.Since(begin))):
		case <-timed.Done():
		}
	}
}

// forgetThreads forgets threads that were not sampled since a time: they have ended.
func (w *wall) forgetThreads(since time.Time) {
	for tid, last := range w.last {
		if last.Before(since) {
			delete(w.last, tid)
			delete(w.names, tid)
			delete(w.threads, tid)
			w.forgetRest(tid)
			delete(w.turns, tid)
			delete(w.fixed, tid)
			w.watch.Forget(int(tid))
		}
	}
}

// drop takes a process out.
func (w *wall) drop(pid int) {
	w.pids = slices.DeleteFunc(slices.Clone(w.pids), func(p int) bool { return p == pid })
}

// round samples a process. An error says that it cannot be sampled.
func (w *wall) round(ctx context.Context, pid int, begin time.Time, every time.Duration) error {
	if w.machine.replaced(pid) { // it runs another program
		w.mu.Lock()
		w.forget(int32(pid))
		w.mu.Unlock()
	}
	w.mu.Lock()
	// Frames of languages are on the heap, where they change as soon as the thread runs: each
	// thread is held while they are read.
	hold := false
	if p := w.spaces[int32(pid)]; p != nil {
		p.begin(uint64(ring.Now()))
		hold = len(p.languages.runtimes) > 0
	}
	seen, resting := w.look(pid)
	since := func(tid int32) uint64 {
		length := every
		if last, ok := w.last[tid]; ok {
			length = begin.Sub(last)
		}
		w.last[tid] = begin
		return uint64(length)
	}
	all := len(resting) > 0 && len(resting) == len(seen)
	if all {
		w.takeResting(seen, resting, since)
	}
	w.mu.Unlock()
	if all {
		return nil
	}
	t, err := live.Attach(ctx, pid, live.Options{LowMemory: true, Unread: hold, Watch: &w.watch, Skip: func(tid int) bool { return resting[tid] }})
	if errors.Is(err, live.ErrExited) || errors.Is(err, live.ErrNoProcess) || errors.Is(err, live.ErrZombie) {
		if !w.begun && slices.Contains(w.opts.PIDs, pid) {
			return err
		}
		w.drop(pid)
		return nil
	}
	if err != nil {
		return err
	}
	defer t.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.spaceOf(t)
	if ctx.Err() != nil {
		return nil // a round that has not begun in time counts for no thread, also if it rests
	}
	w.takeResting(seen, resting, since)
	threads, _ := t.Threads()
	again := t.Retaker()
	defer again.Close()
	for _, th := range threads {
		// A round that takes long is cut off: threads that are left are let go.
		if ctx.Err() != nil && time.Since(begin) > every {
			break
		}
		th := th.(*live.Thread)
		tid := int32(th.ID())
		value := since(tid)
		if w.names[tid].text != th.Name() {
			delete(w.threads, tid)
			w.names[tid] = threadName{text: th.Name()}
		}
		state, whole := stateOf(seen[th.ID()].State), w.stats.Whole
		var sleeper *live.Sleeper
		var same *rest
		if hold {
			sleeper, same = w.asleep(p, th, seen[th.ID()])
		}
		if sleeper == nil {
			w.stopped(p, th, again, hold, state == stateRunning)
			w.keepFixed(p, tid, seen[th.ID()])
		}
		w.stats.Samples++
		if same != nil {
			w.tree.again(same.key, state, value)
			same.seen.Turns, w.turns[tid] = sleeper.Turns, seen[th.ID()].Turns
			if w.hookAsleep != nil {
				w.stack = w.tree.stack(w.stack[:0], same.key)
				w.hookAsleep(p, th, again)
			}
			continue
		}
		key := w.tree.add(sampleKey{thread: w.thread(int32(pid), tid), state: state}, w.stack, value)
		if p.jit.doubt {
			w.keep(p, key, value)
		}
		if sleeper != nil && w.hookAsleep != nil {
			w.hookAsleep(p, th, again)
		}
		w.mayRest(p, th, sleeper, seen[th.ID()], key, w.stats.Whole > whole)
		th.DropCopies()
	}
	w.begun = true
	w.stats.Stops++
	w.stats.Pause = max(w.stats.Pause, t.Pause)
	for _, th := range threads {
		w.stats.Pause = max(w.stats.Pause, th.(*live.Thread).Held)
	}
	return nil
}

// spaceOf returns the address space of a process as it was when it was attached to.
func (w *wall) spaceOf(t *live.Target) *space {
	w.machine.mu.Lock()
	maps := t.Maps(w.machine.leftOutOfMaps)
	w.machine.mu.Unlock()
	pid, a := t.PID, t.Arch()
	p := w.spaces[int32(pid)]
	if p != nil && p.arch.Name != a.Name {
		w.forget(int32(pid))
		p = nil
	}
	if p == nil {
		p = w.newSpace(int32(pid), a, nil)
	}
	if p.ask = false; !sameCode(p.maps, maps) {
		p.stale = true
	}
	p.set(w.engine, maps)
	p.begin(uint64(ring.Now()))
	p.refresh()
	p.findLanguages(p.jit.now)
	return p
}

// sameCode reports whether both lists have the same files and code. Other mappings come and go all
// the time.
func sameCode(a, b []procmaps.Mapping) bool {
	next := func(list *[]procmaps.Mapping) (m procmaps.Mapping, ok bool) {
		for len(*list) > 0 {
			m, *list = (*list)[0], (*list)[1:]
			if m.Exec || m.Inode != 0 {
				return m, true
			}
		}
		return procmaps.Mapping{}, false
	}
	for {
		x, more := next(&a)
		y, also := next(&b)
		if x != y {
			return false
		}
		if !more && !also {
			return true
		}
	}
}

// stopped makes e.stack of a thread that was stopped, or, if it is unread, is stopped now. Frames
// of languages are on the heap, where they change as soon as the thread runs: one that was running
// is held while they are read.
func (e *engine) stopped(p *space, th *live.Thread, retaker *live.Retaker, unread, running bool) {
	p.jit.doubt = false
	before := e.stats.Stopped
	e.stack = e.stack[:0]
	e.regs = arch.Registers{}
	if err := th.Registers(&e.regs); err != nil {
		e.unstopped(err)
		return
	}
	walk := func() {
		n, stop := p.walk(th, th.Memory())
		p.decorate(th, th.Memory(), n, stop.Whole(), 0)
		e.stack = e.stack[:0]
		p.appendPlaces(n)
		early := e.markEarly(&p.languages)
		switch {
		case th.Err != nil:
			e.mark(noStop(th.Err))
		case !stop.Whole():
			e.mark(stop.String())
		case !early:
			return
		}
		e.stats.Stopped++
	}
	var err error
	again := func() {
		err = retaker.Retake(th, func() {
			e.stats.Stopped = before
			e.regs = arch.Registers{}
			if th.Registers(&e.regs) == nil {
				walk()
			}
		})
	}
	retaken := false
	if unread || running && len(p.languages.runtimes) > 0 {
		again()
		retaken = err == nil
	}
	switch {
	case !retaken && unread:
		e.unstopped(err)
		return
	case !retaken:
		walk()
	}
	if th.MovedOn() {
		again()
	}
	if th.MovedOn() && e.stats.Stopped == before {
		e.mark("the thread has run on while its stack was read")
		e.stats.Stopped++
	}
	e.count(before)
}

// unstopped makes e.stack of a thread that could not be stopped.
func (e *engine) unstopped(err error) {
	e.mark(noStop(err))
	if errors.Is(err, live.ErrNoUserContext) {
		e.stats.Whole++ // there is no more to know
	} else {
		e.stats.Stopped++
	}
}

// count counts a stack as whole if it was not counted among the others.
func (e *engine) count(stopped uint64) {
	if e.stats.Stopped == stopped {
		e.stats.Whole++
	}
}

// noStop says why a thread has no registers, in words that are equal for all threads.
func noStop(err error) string {
	switch {
	case errors.Is(err, live.ErrNoUserContext):
		return "a thread of the kernel's, without a stack of its own"
	case errors.Is(err, live.ErrOtherClass):
		return "the thread runs code of another width than its program"
	}
	return "the thread could not be stopped"
}

// withChildren adds the processes that the given ones have begun and that run still
// (proc_pid_children(5)).
func withChildren(pids []int) []int {
	for i := 0; i < len(pids) && len(pids) < maxProcesses; i++ {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pids[i]))
		for _, t := range tasks {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pids[i], t.Name()))
			for _, child := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil && !slices.Contains(pids, pid) && pid != os.Getpid() {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}

// maxProcesses bounds the processes that are sampled by stops.
const maxProcesses = 1 << 10
