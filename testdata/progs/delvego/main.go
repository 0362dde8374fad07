// Command delvego is a Go program with a thousand goroutines in all the states that a
// goroutine can be in: Delve's stacks of them are what the engine's are held against.
//
// Most wait: for channels, in select, for mutexes, conditions and timers, in network
// polls, in system calls on threads of their own, below methods, closures, generic
// functions, deferred calls, panics, range-over-func bodies, coroutines, finalizers. The
// others run: one collects garbage, one grows and shrinks its stack, some compute, so
// that whoever stops the process meets them in the runtime, on the system's stack, or
// wherever they were preempted.
//
// Build: CGO_ENABLED=0 go build -o DIR/delvego ./testdata/progs/delvego
// and with -ldflags=-w for a binary without DWARF. The argument "quiet" leaves out what
// runs; with "die" the program leaves a core file.
package main

import (
	"context"
	"fmt"
	"iter"
	"net"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// goroutines is how many there are at least.
const goroutines = 1000

var (
	never   = make(chan int) // nobody sends
	nowhere = make(chan int) // nobody receives
	counter atomic.Int64
	mutex   sync.Mutex
	rw      sync.RWMutex
	cond    = sync.NewCond(new(sync.Mutex))
	group   sync.WaitGroup
	pipes   [2]int
)

// wait blocks, called by most others.
//
//go:noinline
func wait(n int) int {
	counter.Add(1)
	return <-never + n
}

type point struct{ x, y int }

//go:noinline
func (p point) value(n int) int { return wait(p.x+n) + p.y }

//go:noinline
func (p *point) pointer(n int) int { return p.value(n) + 1 }

type embeds struct {
	*point
	name string
}

type waiter interface{ pointer(int) int }

//go:noinline
func generic[T int | float64 | string](x T, n int) T {
	wait(n)
	return x + x
}

type list[T any] struct{ all []T }

//go:noinline
func (l *list[T]) each(f func(T)) {
	for _, x := range l.all {
		f(x)
	}
}

//go:noinline
func recurse(n int, pad [3]int) int {
	if n == 0 {
		return wait(pad[1])
	}
	return recurse(n-1, [3]int{n, pad[0], pad[1]}) + 1
}

//go:noinline
func grow(n int, pad [16]int) int {
	if n == 0 {
		return pad[3]
	}
	pad[n%16] = n
	return grow(n-1, pad) + pad[0]
}

func inlined(n int) int { return inlinedTwice(n) + 1 }

func inlinedTwice(n int) int { return wait(n) + 2 }

//go:noinline
func deferring(n int) (sum int) {
	for i := range n%4 + 1 { // deferred on the heap
		defer func() { sum += i }()
	}
	defer counter.Add(1)
	return wait(n)
}

//go:noinline
func panicking(n int) (sum int) {
	defer func() {
		sum = wait(n)
		recover()
	}()
	if n%2 == 0 {
		var p *point
		return p.x // a fault
	}
	panic(n)
}

//go:noinline
func exiting(n int) {
	defer wait(n)
	runtime.Goexit()
}

func count(to int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range to {
			if !yield(i) {
				return
			}
		}
	}
}

//go:noinline
func ranging(n int) (sum int) {
	for i := range count(n) {
		for j := range count(i + 1) {
			defer counter.Add(int64(j))
			sum += wait(i + j)
		}
	}
	return sum
}

//go:noinline
func pulling(n int) int {
	next, stop := iter.Pull(func(yield func(int) bool) {
		yield(wait(n))
	})
	defer stop()
	v, _ := next()
	return v
}

//go:noinline
func selecting(n int) int {
	select {
	case x := <-never:
		return x
	case nowhere <- n:
		return n
	case <-time.After(time.Hour):
		return 0
	}
}

// blockedRead waits in a system call of its own thread.
//
//go:noinline
func blockedRead(fd int) int {
	var b [1]byte
	n, _ := syscall.Read(fd, b[:])
	return n
}

// polled waits in the network poller.
//
//go:noinline
func polled(n int) {
	r, _, err := os.Pipe()
	if err != nil {
		return
	}
	var b [1]byte
	r.Read(b[:])
}

func sorting(n int) {
	slices.SortFunc([]int{3, 1, 2}, func(a, b int) int { wait(a); return a - b })
}

func reflecting(n int) {
	reflect.ValueOf(&point{1, 2}).MethodByName("Exported").Call([]reflect.Value{reflect.ValueOf(n)})
}

// Exported is called by reflection.
func (p *point) Exported(n int) int { return p.pointer(n) }

// kinds are what goroutines do, each many times.
var kinds = []func(n int){
	func(n int) { wait(n) },
	func(n int) { nowhere <- n },
	func(n int) { selecting(n) },
	func(n int) { mutex.Lock(); defer mutex.Unlock(); counter.Add(1) },
	func(n int) { rw.RLock(); counter.Add(1) },
	func(n int) { cond.L.Lock(); cond.Wait() },
	func(n int) { group.Wait() },
	func(n int) { time.Sleep(time.Hour) },
	polled,
	func(n int) { point{n, 1}.value(n) },
	func(n int) { embeds{&point{n, 1}, "e"}.pointer(n) },
	func(n int) { waiter(embeds{&point{n, 1}, "w"}).pointer(n) },
	func(n int) { f := (&point{n, 2}).pointer; f(n) },
	func(n int) { generic(n, n); generic("s", n) },
	func(n int) { generic("s", n) },
	func(n int) { (&list[point]{[]point{{n, n}}}).each(func(p point) { p.value(n) }) },
	func(n int) { recurse(n%50+3, [3]int{}) },
	func(n int) { counter.Add(int64(inlined(n))) },
	func(n int) { deferring(n) },
	func(n int) { panicking(n) },
	exiting,
	func(n int) { ranging(n%3 + 1) },
	func(n int) { pulling(n) },
	func(n int) { <-context.Background().Done() },
	func(n int) { counter.Add(int64(strings.IndexFunc("text", func(rune) bool { wait(n); return false }))) },
	sorting,
	reflecting,
	func(n int) { sync.OnceFunc(func() { wait(n) })() },
}

// alone are goroutines that there are only a few of: most take a thread each.
func alone() {
	for range 4 {
		go blockedRead(pipes[0])
		go func() {
			runtime.LockOSThread()
			wait(1)
		}()
		go func() {
			runtime.LockOSThread()
			blockedRead(pipes[0])
		}()
	}
	for range 2 {
		go recurse(3000, [3]int{1, 2, 3})
	}
	time.AfterFunc(time.Millisecond, func() { wait(2) })
	finalized := &point{1, 2}
	runtime.SetFinalizer(finalized, func(p *point) { wait(p.x) })
	cleaned := &point{3, 4}
	runtime.AddCleanup(cleaned, func(n int) { wait(n) }, 5)
	finalized, cleaned = nil, nil
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		go l.Accept()
	}
}

// runs are goroutines that do not wait.
func runs() {
	go func() {
		for {
			runtime.GC()
		}
	}()
	go func() {
		for n := 100; ; n = n%5000 + 100 {
			done := make(chan int)
			go func() { done <- grow(n, [16]int{}) }()
			<-done
		}
	}()
	go func() {
		for {
			m := make(map[int][]byte)
			for i := range 1000 {
				m[i] = make([]byte, 100+i)
			}
			counter.Add(int64(len(m)))
		}
	}()
	go func() {
		for {
			runtime.Gosched()
		}
	}()
	for range 3 {
		go func() {
			for n := 0; ; n++ {
				if n%1000 == 0 {
					counter.Add(1)
				}
			}
		}()
	}
}

// die has the kernel, or who stands for it, write a core file of this moment: without a
// handler of the runtime's.
//
//go:noinline
func die(n int) int {
	byDefault := new([4]uint64) // struct sigaction
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGABRT), uintptr(unsafe.Pointer(byDefault)), 0, 8, 0, 0)
	syscall.RawSyscall(syscall.SYS_KILL, uintptr(syscall.Getpid()), uintptr(syscall.SIGABRT), 0)
	return wait(n)
}

// rest returns when every goroutine but this one waits, also on a slow machine.
func rest() {
	states := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}, {Name: "/sched/goroutines/running:goroutines"}}
	for range 1000 {
		time.Sleep(20 * time.Millisecond)
		metrics.Read(states)
		if states[0].Value.Uint64()+states[1].Value.Uint64() <= 1 {
			return
		}
	}
	fmt.Fprintln(os.Stderr, "the goroutines do not come to rest")
	os.Exit(3)
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds
	// end the process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })

	if err := syscall.Pipe(pipes[:]); err != nil {
		fmt.Fprintln(os.Stderr, "pipe:", err)
		os.Exit(3)
	}
	mutex.Lock()
	rw.Lock()
	group.Add(1)
	// A goroutine that allocates while the collector works may have to wait for it, and would be
	// found there.
	percent := debug.SetGCPercent(-1)
	alone()
	for n := 0; runtime.NumGoroutine() < goroutines; n++ {
		go kinds[n%len(kinds)](n)
	}
	rest()
	debug.SetGCPercent(percent)
	runtime.GC()
	if !slices.Contains(os.Args, "quiet") {
		runs()
	}
	time.Sleep(50 * time.Millisecond)
	os.Stdout.WriteString("ready\n")
	if slices.Contains(os.Args, "die") {
		die(len(os.Args))
	}
	var b [1]byte
	for {
		if n, _ := os.Stdin.Read(b[:]); n == 0 {
			os.Exit(0)
		}
	}
}
