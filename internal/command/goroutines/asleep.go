package goroutines

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Asleep says that no goroutine of a program can go on by what another one does, or time.
type Asleep struct {
	Goroutines int  `json:"goroutines"`        // of the program, that wait for each other
	Signals    bool `json:"signals,omitempty"` // one more waits for signals, which may wake others
	Threads    int  `json:"threads,omitempty"` // in system calls that are not Go's: they may call Go

	calls []uint64       // where the goroutines in system calls begin
	begin map[uint64]int // how many of the others begin at an address
}

// maxBegin bounds the functions that are looked up.
const maxBegin = 1000

// waitsForOthers are the reasons for which a goroutine waits until another one wakes it.
var waitsForOthers = []string{
	"chan receive", "chan send", "select", "chan receive (nil chan)", "chan send (nil chan)", "select (no cases)",
	"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "sync.WaitGroup.Wait", "sync.Cond.Wait", "semacquire", "coroutine",
}

// waitsOfRuntime are waits of the runtime's own goroutines. They wake none of the program's, but
// finalizers may.
var waitsOfRuntime = []string{
	"force gc (idle)", "GC sweep wait", "GC scavenge wait", "GC worker (idle)", "finalizer wait", "cleanup wait", "GOMAXPROCS updater (idle)",
}

// allAsleep returns nil if a goroutine of the list, or a thread, may wake one, or that is not
// known. list and threads are of one moment, and whole. Go's runtime looks for the same, but not
// with cgo, and counts its threads.
//
// A timer, or a file that can be read, wakes a goroutine by a thread that waits in epoll_pwait. The
// runtime has one there as long as there is a timer. Its other threads without work are in
// futex(2), and of these sysmon's alone with a timeout.
func allAsleep(s target.Target, list []goroutine.Goroutine, threads []target.Thread) *Asleep {
	a := &Asleep{begin: map[uint64]int{}}
	for i := range list {
		g := &list[i]
		reason := strings.TrimSuffix(g.Reason, " (durable)")
		switch {
		case g.Status == goroutine.Syscall:
			a.calls = append(a.calls, g.Start)
		case g.Status != goroutine.Waiting && g.Status != goroutine.Leaked || !g.Parked():
			return nil
		case slices.Contains(waitsForOthers, reason):
			a.Goroutines++
			a.begin[g.Start]++
		case !slices.Contains(waitsOfRuntime, reason):
			return nil
		}
	}
	calls, timed := s.Arch().SystemCalls, 0
	if a.Goroutines == 0 || len(a.calls) > 1 || calls == nil || len(threads) == 0 {
		return nil
	}
	for _, th := range threads {
		var regs arch.Registers
		if th.Registers(&regs) != nil {
			return nil
		}
		pc, _ := regs.Get(s.Arch().PC)
		code := make([]byte, arch.SystemCallCode)
		if n, _ := s.Memory().ReadMemory(pc-uint64(len(code)/2), code); n < len(code) {
			return nil
		}
		if w, ok := s.Arch().Futex(&regs, code); ok {
			if w.Timed {
				timed++
			}
			continue
		}
		in, ok := calls.Blocked(&regs, code[:arch.MaxSystemCall], code[arch.MaxSystemCall:])
		if !ok || in.Number == calls.Restart || slices.Contains(calls.Timers, in.Number) {
			return nil
		}
		a.Threads++
	}
	if timed > 1 {
		return nil
	}
	return a
}

// Judge returns a if the goroutine in a system call, if there is one, waits for signals; else nil.
func (a *Asleep) Judge(s target.Target, symbols *symbol.Symbolizer) *Asleep {
	if a == nil {
		return nil
	}
	name := func(start uint64) string {
		if at := symbols.Locate(s.Modules(), start); len(at) > 0 {
			return at[0].Function
		}
		return ""
	}
	for _, start := range a.calls {
		if name(start) != "os/signal.loop" {
			return nil
		}
		a.Signals = true
	}
	if len(a.begin) <= maxBegin {
		for start, n := range a.begin {
			if f := name(start); strings.HasPrefix(f, "runtime.") && f != "runtime.main" { // such as the one that keeps a thread for signals
				a.Goroutines -= n
			}
		}
	}
	a.calls, a.begin = nil, nil // it is judged once
	if a.Goroutines == 0 {
		return nil
	}
	return a
}
