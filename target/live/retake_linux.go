package live

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/jobcontrol"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

const (
	// againTimeout bounds the wait for a thread that is read once more. On a busy machine, the
	// thread may have to wait for a processor before it can stop.
	againTimeout = DefaultTimeout
	// deeper is how much deeper a stack may have become since it was last read, bytes.
	deeper = 256 << 10
	// deepLimit bounds the copies of deep stacks at one moment, bytes. To copy that much takes some
	// milliseconds.
	deepLimit = 8 << 20
)

// holdLimit bounds the time that a thread is held while its stack is walked. It grows with before,
// the number of earlier holds. Tests set it.
var holdLimit = func(before int) time.Duration { return 5 * time.Millisecond << (2 * min(before, 3)) }

// retake implements source.
func (f *files) retake(th *Thread, walk func()) error { return f.retakeIn(nil, th, walk) }

// retaker implements source.
func (f *files) retaker() (retake func(*Thread, func()) error, end func()) {
	var s *series
	retake = func(th *Thread, walk func()) error {
		if s == nil {
			s = newSeries()
		}
		return f.retakeIn(s, th, walk)
	}
	return retake, func() {
		if s != nil {
			s.end()
		}
	}
}

// retakeIn is retake with the thread of a series, or, if that is nil, with one of its own.
func (f *files) retakeIn(series *series, th *Thread, walk func()) error {
	if err := f.whyUnreadable(); err != nil {
		return err
	}
	old := th.view
	m := old.memory
	first, whole := old.lacksStack(), true
	var again []span
	if f.values && th.retakes == 0 {
		again = old.again()
	}
	if first == 0 {
		first, whole = firstCopy, len(again) > 0
	}
	in, room := series, []byte(nil)
	if n := first + (maxSwitches-1)*firstCopy; in != nil && n <= len(in.room) {
		room = in.room
	} else {
		in, room = nil, make([]byte, n)
		touch(room)
	}
	var pages []span // that are copied at once
	if in != nil {
		for _, at := range f.proc.watch.readBefore(th.id) {
			pages = append(pages, span{at, at + pageSize})
		}
	}
	t := &tracer{proc: f.proc, timeout: againTimeout}
	x := &tracee{tid: th.id, name: th.name}
	t.tracees = []*tracee{x}
	limit := holdLimit(th.retakes)
	th.retakes++
	var v *view
	h := newHold(t, limit)
	h.in = series
	h.stop = func() error {
		if err := t.stopOne(x); err != nil {
			return err
		}
		hookStopped()
		x.readRegisters(f, room[:maxRegisterSet])
		if x.state != stopped {
			return ErrExited
		}
		if x.err != nil {
			return x.err
		}
		sp := x.regs.Value[m.arch.SP]
		if k, ok := procmaps.Find(m.maps, sp); ok {
			least := uint64(firstCopy)
			if in != nil {
				least = pageSize // what is missing is copied while the thread is held
			}
			first = int(min(uint64(first), max(least, m.maps[k].Hi-sp+uint64(m.arch.RedZone))))
		}
		x.copied = f.copyStacks(x.tid, sp, m.maps, first, room, nil)
		if in != nil { // the next hold uses the room again
			for i := range x.copied {
				x.copied[i].data = bytes.Clone(x.copied[i].data)
			}
		}
		var ahead, others []block
		if len(pages) > 0 {
			ahead, _ = f.copyMemory(x.tid, pages)
		}
		if len(again) > 0 {
			for _, s := range missing(slices.Clone(x.copied), again) {
				data := make([]byte, s.hi-s.lo)
				if n := f.copyRange(x.tid, s.lo, data); n > 0 {
					others = append(others, block{lo: s.lo, data: data[:n]})
				}
			}
		}
		if whole {
			t.letGo(x)
		}
		v = newView(m, x, nil)
		for _, b := range others {
			v.size += int64(len(b.data))
		}
		v.add(others...)
		if v.held = !whole; v.held && len(ahead) > 0 {
			v.hold(ahead)
		}
		return nil
	}
	h.release = func() { v.release() }
	err := h.run(func() {
		th.mu.Lock()
		th.regs, th.sets, th.blocked, th.view, th.Err = x.regs, x.sets, x.blocked, v, nil
		th.mu.Unlock()
		m.left.Add(-v.size)
		m.show([]*view{v}, []*view{old})
		walk()
	})
	th.mu.Lock()
	th.Held = max(th.Held, x.held)
	th.mu.Unlock()
	if in != nil && err == nil {
		f.proc.watch.wasRead(th.id, v.readPages())
	}
	return err
}

// lacksStack returns how many bytes of the stack to copy, if walking lacked nothing else. It
// returns 0 if walking lacked other memory, or if the stack may be one of many in a large mapping.
func (v *view) lacksStack() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	k, ok := procmaps.Find(v.memory.maps, v.sp)
	if !ok || !v.moved.Load() || v.wanted < v.sp || v.wanted >= v.memory.maps[k].Hi {
		return 0
	}
	if n := v.memory.maps[k].Hi - v.sp; n < stackLimit {
		return int(n) + deeper
	}
	return 0
}

// touch makes the kernel provide the memory of room, so that no thread has to wait for it.
func touch(room []byte) {
	for i := 0; i < len(room); i += pageSize {
		room[i] = 0
	}
}

// retakeAll implements source.
func (f *files) retakeAll(t *Target, room int, also func(*Held), walk func()) error {
	if err := f.whyUnreadable(); err != nil {
		return err
	}
	m := t.memory.(*memory)
	s := newAttachment(f.proc, f, m.lowMemory, m.limit)
	s.maps, s.consistent = t.maps, true
	tr := &s.tracer
	tr.timeout = againTimeout
	before := t.threads // only retakes change them
	limit := holdLimit(t.retakes)
	var again []span
	if f.values && t.retakes == 0 {
		again = lackValues(before)
	}
	if s.deep = lackStacks(before); s.deep != nil || len(again) > 0 || also != nil {
		limit = 0
	}
	tr.prepare = func(threads int) {
		each := usualStack
		if also != nil { // the stacks of Go's threads are in its heap, so that more of them is copied than is used
			each = stackCopy
		}
		f.prepare(min(threads*each, 8<<20) + s.deeper() + room)
	}
	t.retakes++
	var threads []*Thread
	h := newHold(tr, limit)
	h.stop = func() error {
		if err := tr.stopAll(context.Background()); err != nil {
			return err
		}
		hookStopped()
		s.moment = time.Now()
		leader, err := s.readAll()
		if err != nil {
			return err
		}
		copyThreads := func() {
			s.copyStacks(leader)
			s.copyLocks(leader)
			s.copy(leader, again)
			threads = s.threads(t, m)
			for _, th := range threads {
				th.view.held = limit > 0
			}
		}
		if also == nil {
			copyThreads()
			return nil
		}
		ready := make(chan struct{})
		go func() {
			defer close(ready)
			copyThreads()
			t.mu.Lock()
			t.threads = threads
			t.mu.Unlock()
		}()
		also(&Held{
			read: func(addr uint64, p []byte) int { return f.copyRange(leader, addr, p) },
			copy: func(list []span) []block {
				blocks, _ := f.copyMemory(leader, list)
				return blocks
			},
			threads: ready,
		})
		<-ready
		return nil
	}
	h.release = func() {
		for _, th := range threads {
			th.view.release()
		}
	}
	err := h.run(func() {
		m.show(views(threads), views(before))
		m.left.Store(s.rest())
		t.mu.Lock()
		t.threads, t.taken = threads, s.moment
		t.mu.Unlock()
		walk()
	})
	for _, x := range tr.tracees {
		t.Pause = max(t.Pause, x.held)
		for _, th := range threads {
			if th.id == x.tid {
				th.Held = x.held
			}
		}
	}
	return err
}

// lackStacks returns, by thread ID, how many bytes of the stacks of threads that have moved on to
// copy, if walking lacked nothing else. It returns nil if a thread lacked other memory, or copying
// would take longer than walking. Then the threads are held while they are walked.
func lackStacks(threads []*Thread) map[int]uint64 {
	deep, all := map[int]uint64{}, 0
	for _, th := range threads {
		if !th.view.moved.Load() {
			continue
		}
		n := th.view.lacksStack()
		if all += n; n == 0 || all > deepLimit {
			return nil
		}
		deep[th.id] = uint64(n)
	}
	if len(deep) == 0 {
		return nil
	}
	return deep
}

// lackValues returns all that was copied late for threads, to be copied once more; nothing if that
// is too much.
func lackValues(threads []*Thread) (list []span) {
	size := uint64(0)
	for _, th := range threads {
		if !th.view.moved.Load() {
			continue
		}
		again := th.view.again()
		for _, s := range again {
			size += s.hi - s.lo
		}
		if len(again) == 0 || size > maxAgain {
			return nil
		}
		list = append(list, again...)
	}
	return list
}

// deeper returns the sum of deep, bytes.
func (s *attachment) deeper() (n int) {
	for _, bytes := range s.deep {
		n += int(bytes)
	}
	return n
}

// whyUnreadable says why nothing can be read of the process any more; nil if it can be read.
func (f *files) whyUnreadable() error {
	switch {
	case f.closed.Load():
		return errClosed
	case f.exited() || f.replaced():
		return ErrExited
	}
	return nil
}

// stopOne stops one thread.
func (t *tracer) stopOne(x *tracee) error {
	if x.state, x.err = t.seize(x.tid, ""); x.state == seized {
		x.since = time.Now()
		ptrace(unix.PTRACE_INTERRUPT, x.tid, 0, nil)
		t.awaitOne(x)
	}
	switch {
	case x.state == stopped:
		return nil
	case x.err != nil:
		return x.err
	}
	return ErrExited
}

// awaitOne waits until a thread has stopped, or its time is over.
func (t *tracer) awaitOne(x *tracee) {
	wait := firstWait
	for round := 0; x.state == seized; round++ {
		if is, signal := stopSignal(x.tid); is {
			x.state, x.signal = stopped, signal
			return
		}
		if round < quickRounds {
			unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		if round >= quickRounds+slowRounds {
			t.judge(x, x.since.Add(t.timeout))
		}
		sleepLonger(&wait)
	}
}

// slowRounds is how often awaitOne sleeps before it asks why a thread has not stopped: most wait
// for a processor.
const slowRounds = 3

// hold holds threads while their stacks are walked.
type hold struct {
	tracer  *tracer
	limit   time.Duration // how long, at most; 0 means not at all
	stop    func() error  // stops the threads; runs on the thread that traces them
	release func()        // called before the threads are let go
	stopped chan error
	walked  chan struct{}
	ended   chan struct{}
	in      *series // of holds; nil for one by itself
}

func newHold(t *tracer, limit time.Duration) *hold {
	return &hold{tracer: t, limit: limit, stopped: make(chan error, 1), walked: make(chan struct{}), ended: make(chan struct{})}
}

// run stops the threads, calls walk, and lets them go when walk returns, or earlier if walk takes
// too long. If stop fails, run returns its error and does not call walk.
func (h *hold) run(walk func()) error {
	if h.in != nil {
		h.in.next <- h
	} else {
		go h.trace()
	}
	defer func() { <-h.ended }()
	defer close(h.walked) // even if walk panics
	if err := <-h.stopped; err != nil {
		return err
	}
	walk()
	return nil
}

func (h *hold) trace() {
	defer close(h.ended)
	jobcontrol.Hold()
	defer jobcontrol.Release()
	all := true
	onOwnThread(func() { all = h.hold() })
	if !all {
		awaitThreadEnd(h.tracer.self)
	}
}

// hold does the work of trace, on the thread that traces. It reports whether all threads were let
// go: the end of the tracing thread lets go any others.
func (h *hold) hold() (all bool) {
	t := h.tracer
	t.self = unix.Gettid()
	defer func() { all = t.detachAll() }()
	err := h.stop()
	h.stopped <- err
	if err != nil {
		return
	}
	limit := time.NewTimer(h.limit)
	defer limit.Stop()
	select {
	case <-h.walked:
	case <-limit.C:
	}
	h.release()
	return
}

// series is a series of holds. One thread traces for all of them, as long as it lets all threads
// go: the system takes longer to begin one than to stop another process's.
type series struct {
	next chan *hold
	room []byte // for the copies of a hold
}

func newSeries() *series {
	s := &series{make(chan *hold), seriesRooms.Get().(*[maxSwitches * firstCopy]byte)[:]}
	go s.trace()
	return s
}

// seriesRooms are for the copies of series: a profiler has one series after the other.
var seriesRooms = sync.Pool{New: func() any { return new([maxSwitches * firstCopy]byte) }}

// end ends the series, of which no hold is under way.
func (s *series) end() {
	close(s.next)
	seriesRooms.Put((*[maxSwitches * firstCopy]byte)(s.room))
}

func (s *series) trace() {
	for more := true; more; {
		var h *hold
		all := true
		onOwnThread(func() {
			for all {
				if h, more = <-s.next; !more {
					return
				}
				jobcontrol.Hold()
				all = h.hold()
				jobcontrol.Release()
				if all {
					close(h.ended)
				}
			}
		})
		if !all {
			awaitThreadEnd(h.tracer.self)
			close(h.ended)
		}
	}
}
