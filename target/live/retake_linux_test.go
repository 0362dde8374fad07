package live

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

var _ target.RunningThread = (*Thread)(nil)

// holdLong lets threads be held for as long as a test walks, on however slow a machine.
func holdLong(t *testing.T) {
	was := holdLimit
	holdLimit = func(int) time.Duration { return time.Hour }
	t.Cleanup(func() { holdLimit = was })
}

// word reads a word of memory.
func word(t testing.TB, mem target.Memory, addr uint64) uint64 {
	t.Helper()
	var b [8]byte
	if _, err := mem.ReadMemory(addr, b[:]); err != nil {
		t.Fatal(err)
	}
	return hostArch.Order.Uint64(b[:])
}

// counting starts a program that counts in two words, one on a thread's stack and one on the heap.
func counting(t *testing.T, args ...string) (p *gdbtest.Process, stack, heap uint64) {
	t.Helper()
	p = start(t, "counts.c", args...)
	return p, address(t, p), address(t, p)
}

// counter returns the thread on whose stack the word at address stack is.
func counter(t *testing.T, tg *Target, stack uint64) *Thread {
	t.Helper()
	for _, th := range threadsOf(t, tg) {
		if sp, _ := registersOf(t, th).Get(hostArch.SP); stack-sp < firstCopy {
			return th
		}
	}
	t.Fatalf("no thread's stack has %#x", stack)
	return nil
}

// All that is read while a thread is held is of one moment, wherever it lies, and stays as it was.
func TestRetake(t *testing.T) {
	holdLong(t)
	p, stack, heap := counting(t)
	tg := attach(t, p.PID)
	th := counter(t, tg, stack)
	mem := th.Memory()
	at := word(t, mem, stack)
	gdbtest.Await(t, "the thread has run on", func() bool { return word(t, attach(t, p.PID).Memory(), heap) > at+1 })
	if word(t, mem, heap) <= at+1 {
		t.Error("the heap was copied before it was asked for")
	}
	mover := mem.(target.RunningMemory)
	if !mover.MovedOn(heap, 8) || mover.MovedOn(stack, 8) || !th.MovedOn() {
		t.Errorf("the heap has moved on: %v, the stack: %v, the thread: %v", mover.MovedOn(heap, 8), mover.MovedOn(stack, 8), th.MovedOn())
	}
	for range 100 {
		var a, b uint64
		if err := th.Retake(func() {
			mem := th.Memory()
			a, b = word(t, mem, stack), word(t, mem, heap)
		}); err != nil {
			t.Fatal(err)
		}
		mem := th.Memory()
		mover := mem.(target.RunningMemory)
		if a-b+1 > 2 || word(t, mem, stack) != a || word(t, mem, heap) != b || th.MovedOn() || mover.MovedOn(stack, 8) || mover.MovedOn(heap, 8) {
			t.Fatalf("%d on the stack, %d on the heap; afterwards %d, %d; the thread has moved on: %v", a, b, word(t, mem, stack), word(t, mem, heap), th.MovedOn())
		}
		if got := word(t, tg.Memory(), stack); got != a {
			t.Fatalf("the target has %d, the thread %d", got, a)
		}
	}
	if word(t, mem, stack) != at {
		t.Error("the memory that the thread had before has changed")
	}
	letGo(t, p.PID)
}

// Threads that an attach has listed alone are stopped once, one after the other, and what is read
// while one is held is of one moment, also what is copied before it is asked for.
func TestRetaker(t *testing.T) {
	holdLong(t)
	p, stack, heap := counting(t, "3")
	watch := &Watch{Most: 8}
	defer watch.Close()
	for round := range 20 {
		tg := attachBy(t, p.PID, Options{Unread: true, LowMemory: true, Watch: watch})
		again, counters := tg.Retaker(), 0
		for _, th := range threadsOf(t, tg) {
			var r arch.Registers
			if err := th.Registers(&r); r.Known != (arch.RegSet{}) && !hostArch.PAuth || err != nil {
				t.Fatalf("round %d: a thread that was not stopped has registers, or an error: %v", round, err)
			}
			counts := false
			var a, b uint64
			if err := again.Retake(th, func() {
				sp := registersOf(t, th).Value[hostArch.SP]
				mem := th.Memory()
				word(t, mem, sp)
				if counts = stack-sp < firstCopy; counts {
					if ahead := th.view.shared[heap&^(pageSize-1)] != nil; ahead != (round > 0) {
						t.Errorf("round %d: the heap is copied before it is read: %v", round, ahead)
					}
					a, b = word(t, mem, stack), word(t, mem, heap)
				}
			}); err != nil {
				t.Fatal(err)
			}
			if !counts {
				continue
			}
			counters++
			if a-b+1 > 2 || word(t, th.Memory(), stack) != a || word(t, th.Memory(), heap) != b || th.MovedOn() {
				t.Errorf("round %d: %d on the stack, %d on the heap; the thread has moved on: %v", round, a, b, th.MovedOn())
			}
			if turns, ok := th.Rests(); ok {
				t.Errorf("round %d: a thread that counts rests since its turn %d", round, turns)
			}
		}
		if again.Close(); counters != 1 {
			t.Errorf("round %d: %d threads have the stack", round, counters)
		}
		letGo(t, p.PID)
		tg.Close()
	}
}

// If two threads have read different values at one address at different moments, the snapshot,
// which has room for one of them, marks it.
func TestSavedOfTwoMoments(t *testing.T) {
	p, stack, heap := counting(t)
	tg := attach(t, p.PID)
	var read []uint64
	for _, th := range threadsOf(t, tg) {
		if err := th.Retake(func() { read = append(read, word(t, th.Memory(), heap)) }); err != nil {
			t.Fatal(err)
		}
		at := read[len(read)-1]
		gdbtest.Await(t, "the thread has run on", func() bool { return word(t, attach(t, p.PID).Memory(), heap) > at+1 })
	}
	if len(read) < 2 || read[0] == read[1] {
		t.Fatalf("the threads have read %d", read)
	}
	s, err := tg.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Memory {
		for at, late := range map[uint64]bool{heap: true, stack: false} {
			if b.Addr <= at && at < b.End() && b.Late != late {
				t.Errorf("what is at %#x is late: %v", at, b.Late)
			}
		}
	}
	letGo(t, p.PID)
}

// All memory that is read for a thread that stands still is of the same moment, and nothing stops
// the thread.
func TestStandsStill(t *testing.T) {
	p, stack, heap := counting(t)
	p.Stop(t)
	tg := attach(t, p.PID)
	gdbtest.Await(t, "all threads are stopped again", func() bool { return strings.Trim(p.States(t), "T") == "" })
	th := counter(t, tg, stack)
	mem := th.Memory()
	if a, b := word(t, mem, stack), word(t, mem, heap); a-b+1 > 2 || th.MovedOn() {
		t.Errorf("%d on the stack, %d on the heap; the thread has moved on: %v", a, b, th.MovedOn())
	}
	at := word(t, mem, heap)
	p.Continue(t)
	gdbtest.Await(t, "the thread has run on", func() bool { return word(t, attach(t, p.PID).Memory(), heap) > at+1 })
	if word(t, mem, heap) != at {
		t.Error("what was copied has changed")
	}
	if b := word(t, mem, stack&^(pageSize-1)-3*pageSize); !th.MovedOn() {
		t.Errorf("%d was read below the stack, and the thread has not moved on", b)
	}
}

// The same holds for a thread that is blocked in any system call, and is blocked there again after
// the read.
func TestStaysBlocked(t *testing.T) {
	p := start(t, "idle.c", "2")
	addr := address(t, p)
	blocked := func(tg *Target) *Target {
		for _, th := range threadsOf(t, tg) {
			gdbtest.Await(t, "the thread is blocked", func() bool { return field(t, p.PID, th.ID(), "State")[0] == 'S' })
		}
		return tg
	}
	blocked(attach(t, p.PID))
	// On a slow machine a thread may still leave the processor while its memory is read.
	gdbtest.Await(t, "all threads stay blocked", func() bool {
		moved := false
		for _, th := range threadsOf(t, blocked(attach(t, p.PID))) {
			if v := word(t, th.Memory(), addr); v != 0x1122334455667788 {
				t.Fatalf("thread %d: %#x", th.ID(), v)
			}
			moved = moved || th.MovedOn()
		}
		return !moved
	})
}

// A walk that takes too long does not hold the thread until it ends.
func TestRetakeTakesLong(t *testing.T) {
	eachWay(t, func(t *testing.T, opts Options) {
		p, stack, heap := counting(t, "2")
		tg := attachBy(t, p.PID, opts)
		retake := tg.Retake
		if !opts.Consistent {
			retake = counter(t, tg, stack).Retake
		}
		// On a slow machine the thread may be let go before the word is read.
		gdbtest.Await(t, "a word is read while the thread is held", func() (held bool) {
			if err := retake(func() {
				th := counter(t, tg, stack)
				at := word(t, th.Memory(), heap)
				if held = !th.MovedOn(); !held {
					return
				}
				gdbtest.Await(t, "the thread is let go", func() bool {
					var b [8]byte
					tg.files.(*files).fetch(heap, b[:])
					return hostArch.Order.Uint64(b[:]) > at
				})
				if th.MovedOn() {
					t.Error("the thread has moved on, though nothing was read since")
				}
				word(t, th.Memory(), tg.Modules().All()[0].Lo()) // code does not change
				if th.MovedOn() {
					t.Error("the thread has moved on by its code")
				}
				word(t, th.Memory(), stack&^(pageSize-1)-3*pageSize)
				if !th.MovedOn() {
					t.Error("more of the stack was read, and the thread has not moved on")
				}
			}); err != nil {
				t.Fatal(err)
			}
			return held
		})
		letGo(t, p.PID)
	})
}

// All threads are read at one moment once more.
func TestRetakeAll(t *testing.T) {
	holdLong(t)
	p, stack, heap := counting(t, "3")
	tg := attachBy(t, p.PID, Options{Consistent: true})
	before := threadsOf(t, tg)
	if err := before[0].Retake(func() { t.Error("walked") }); !errors.Is(err, errConsistent) {
		t.Errorf("one of them: %v", err)
	}
	for range 20 {
		if err := tg.Retake(func() {
			if s := p.States(t); strings.Trim(s, "t") != "" {
				t.Errorf("while they are held the threads' states are %s", s)
			}
			mem := counter(t, tg, stack).Memory()
			if a, b := word(t, mem, stack), word(t, mem, heap); a-b+1 > 2 {
				t.Errorf("%d on the stack, %d on the heap", a, b)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if after := threadsOf(t, tg); len(after) != len(before) || after[0] == before[0] || after[0].ID() != before[0].ID() {
			t.Fatalf("threads %v, before %v", after, before)
		}
		letGo(t, p.PID)
	}
	if err := attach(t, p.PID).Retake(func() { t.Error("walked") }); !errors.Is(err, errNotConsistent) {
		t.Errorf("of threads in turn: %v", err)
	}
}

// The used part of a deep stack is copied at one moment. The threads run on before it is walked.
func TestRetakeDeep(t *testing.T) {
	const depth = 3 << 19
	p, stack, heap := counting(t, "3", strconv.Itoa(depth))
	tg := attachBy(t, p.PID, Options{Consistent: true})
	th := counter(t, tg, stack)
	word(t, th.Memory(), stack+depth)
	if !th.MovedOn() {
		t.Fatal("all of the stack was copied at first")
	}
	if err := tg.Retake(func() {
		th := counter(t, tg, stack)
		at := word(t, th.Memory(), stack)
		gdbtest.Await(t, "the threads are let go", func() bool {
			var b [8]byte
			tg.files.(*files).fetch(heap, b[:])
			return hostArch.Order.Uint64(b[:]) > at+1
		})
		if word(t, th.Memory(), stack) != at {
			t.Error("the stack has changed")
		}
		if word(t, th.Memory(), stack+depth); th.MovedOn() {
			t.Error("the thread has moved on")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// If a thread cannot be read once more, an error says so, and the earlier copies stay.
func TestRetakeFails(t *testing.T) {
	p, stack, _ := counting(t)
	walk := func() { t.Error("walked") }
	tg, closed := attach(t, p.PID), attach(t, p.PID)
	th := counter(t, tg, stack)
	before, was := th.Memory(), word(t, th.Memory(), stack)
	closed.Close()
	if err := counter(t, closed, stack).Retake(walk); !errors.Is(err, errClosed) {
		t.Errorf("of a closed target: %v", err)
	}
	tracer := startRole(t, "trace", th.ID())
	wantError(t, th.Retake(walk), ErrTraced)
	tracer.Process.Kill()
	tracer.Wait()
	end(t, p)
	wantError(t, th.Retake(walk), ErrExited)
	if th.Memory() != before || word(t, th.Memory(), stack) != was {
		t.Error("the thread is not as it was")
	}
}

// A walk that panics lets the thread go.
func TestRetakePanics(t *testing.T) {
	p, stack, _ := counting(t)
	th := counter(t, attach(t, p.PID), stack)
	func() {
		defer func() { recover() }()
		th.Retake(func() { panic("") })
	}()
	letGo(t, p.PID)
}

// To kill us while a thread is held for a walk does not harm the process.
func TestKilledWhileRetaking(t *testing.T) {
	p := start(t, "undisturbed.c")
	for _, role := range []string{"hold one", "hold all"} {
		holder := startRole(t, role, p.PID)
		if s := p.States(t); !strings.Contains(s, "t") {
			t.Fatalf("%s: while they are held the threads' states are %s", role, s)
		}
		holder.Process.Kill()
		holder.Wait()
		letGo(t, p.PID)
		fmt.Fprint(p.Stdin, "?")
		line(t, p)
	}
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// A process does not notice that its threads are read once more, and loses no signal.
func TestRetakeUndisturbed(t *testing.T) {
	p := start(t, "undisturbed.c")
	tg := attach(t, p.PID)
	for range max(attaches(t)/200, 2) {
		for _, th := range threadsOf(t, tg) {
			if err := th.Retake(func() { word(t, th.Memory(), registersOf(t, th).Value[hostArch.SP]) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	letGo(t, p.PID)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
	p = start(t, "signals.c")
	tg = attach(t, p.PID)
	const each = 40
	sum := 0
	for i := range each {
		sum += i
		queue(t, p.PID, 34, i)
		for _, th := range threadsOf(t, tg) {
			if err := th.Retake(func() {
				if i%2 == 0 {
					kill(t, p.PID, syscall.SIGUSR1)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	gdbtest.Await(t, "all real-time signals are delivered", func() bool {
		var usr, rt, got int
		fmt.Fprint(p.Stdin, "?")
		if _, err := fmt.Sscan(line(t, p), &usr, &rt, &got); err != nil {
			t.Fatal(err)
		}
		return usr > 0 && rt == each && got == sum
	})
	letGo(t, p.PID)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}
