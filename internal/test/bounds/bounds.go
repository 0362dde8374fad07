// Package bounds holds the code that a fuzz test runs to bounds of memory and time: an input that
// makes a reader take all of either is as bad as one that makes it panic.
//
//	f.Fuzz(func(t *testing.T, data []byte) {
//		bounds.Hold(t, 64<<10+100*len(data), func() { … })
//	})
package bounds

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

const (
	// maxCPU is the CPU time that one input may take. Most take some microseconds.
	maxCPU = 2 * time.Second
	// emulated is how many times as long an emulated processor may take.
	emulated = 10
	// maxWait bounds the time of an input that waits and does not work. It is generous: a deadlock
	// never ends.
	maxWait = 5 * time.Minute
	// slack is the memory that the run-time system may count too late, and so for a later input:
	// it counts small objects when the spans that they lie in are full.
	slack = 1 << 20
	// interval is the time between two looks at an input that has not ended.
	interval = 200 * time.Millisecond
)

// Hold runs read, which reads one input. It fails t if read has allocated more than memory
// bytes and 1 MiB; what has been freed counts. It panics, so that the fuzzer gets to know the
// input, if read goes on when it has allocated four times as much, or has taken more than two
// seconds of the process's CPU time (20 on an emulated processor), or has waited for five minutes.
// All that runs in the process counts: seeds must not be parallel tests.
func Hold(t testing.TB, memory int, read func()) {
	t.Helper()
	in := &input{memory: uint64(memory) + slack, start: allocated()}
	in.Lock()
	in.next = time.AfterFunc(interval, in.look)
	in.Unlock()
	defer in.end()
	read()
	if what := in.tooLarge(1); what != "" {
		t.Error(what)
	}
}

// input is an input that is being read.
type input struct {
	memory, start uint64

	sync.Mutex
	ended bool
	next  *time.Timer   // the next look at it
	seen  time.Time     // the time of the first look
	cpu   time.Duration // CPU time of the process at the first look
}

func (in *input) end() {
	in.Lock()
	defer in.Unlock()
	in.ended = true
	in.next.Stop()
}

// look panics if the input exceeds the bounds and has not been read.
func (in *input) look() {
	in.Lock()
	defer in.Unlock()
	if in.ended {
		return
	}
	what := in.tooLarge(4)
	if what == "" {
		what = in.tooLong(patience(), maxWait)
	}
	if what != "" {
		stacks := make([]byte, 64<<10)
		panic(fmt.Sprintf("%s, and goes on\n%s", what, stacks[:runtime.Stack(stacks, true)]))
	}
	in.next.Reset(interval)
}

// patience returns the CPU time that one input may take on this processor. 'make hosts' emulates
// all but these.
func patience() time.Duration {
	switch runtime.GOARCH {
	case "amd64", "arm64":
		return maxCPU
	}
	return emulated * maxCPU
}

func allocated() uint64 {
	s := [1]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s[:])
	return s[0].Value.Uint64()
}

// tooLarge returns a message if the input has taken more than times the memory that it may.
func (in *input) tooLarge(times uint64) string {
	if m := allocated() - in.start; m > times*in.memory {
		return fmt.Sprintf("the input takes %d bytes of memory in all, more than %d", m, times*in.memory)
	}
	return ""
}

// tooLong returns a message if the input takes too long. It makes system calls, so it is called
// only about inputs that have not ended within an interval.
func (in *input) tooLong(maxCPU, maxWait time.Duration) string {
	cpu, now := CPUTime(), time.Now()
	if in.seen.IsZero() {
		in.cpu, in.seen = cpu, now
	}
	if c := cpu - in.cpu; c > maxCPU {
		return fmt.Sprintf("the input takes %v of CPU time, more than %v", c, maxCPU)
	}
	if w := now.Sub(in.seen); w > maxWait {
		return fmt.Sprintf("the input has not been read after %v", w)
	}
	return ""
}
