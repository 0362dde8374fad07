package pace

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// Late delays the first garbage collection until the heap has 16 MB instead of 4. Most
// commands have ended by then, and a collection costs them more than it frees. After the first
// one the usual pace holds. A user's GOGC is respected.
func Late() {
	if os.Getenv("GOGC") != "" {
		return
	}
	pace.Store(int64(debug.SetGCPercent(400)))
	runtime.AddCleanup(new(*int), func(struct{}) {
		if !collectingOften.Load() {
			debug.SetGCPercent(int(pace.Load()))
		}
	}, struct{}{})
}

// pace is the percentage of the live heap at which garbage is collected after the first collection.
var pace atomic.Int64

// Soon is Late for commands that read values, which are garbage as soon as they are text: the first
// collection is at 12 MB, and later ones at 50% of the live heap. A collection takes 1.5 MB for its
// own lists, so that an earlier one would free less than that.
func Soon() {
	if os.Getenv("GOGC") == "" && !collectingOften.Load() {
		pace.Store(50)
		debug.SetGCPercent(300)
	}
}

// deep is the level from which on a stack may be so deep that dead copies of it make up most
// of the memory in use.
const deep = 50_000

// Often has garbage collected when it reaches 30% of the live heap, not 100%.
var Often = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		collectingOften.Store(true)
		debug.SetGCPercent(30)
	}
})

// OftenIfDeep is Often once a stack has come to level deep.
func OftenIfDeep(level int) {
	if level >= deep {
		Often()
	}
}

// crowd is the number of goroutines from which on lists of them, and copies of their stacks, make
// up most of the memory in use: garbage that comes about beside these would be as much again.
const crowd = 10_000

// OftenIfCrowd is Often for many goroutines.
func OftenIfCrowd(goroutines int) {
	if goroutines >= crowd {
		Often()
	}
}

var collectingOften atomic.Bool

// Never has no garbage collected until resume is called.
func Never() (resume func()) {
	percent := debug.SetGCPercent(-1)
	return func() {
		if set := debug.SetGCPercent(percent); set != -1 { // one of the above, meanwhile
			debug.SetGCPercent(set)
		}
	}
}

const (
	// usualMemory is the limit of memory in use, bytes, as long as no more than usualLive of it
	// is live. The usual pace of collection would let half of the memory be garbage.
	usualMemory = 190 << 20
	usualLive   = 150 << 20
	// mostMemory is the limit that moves up with what is live, by as much as lies between usualLive
	// and usualMemory. A collection on a busy machine takes what is allocated meanwhile for live.
	mostMemory = 240 << 20
)

// memoryLimit is usualMemory, or the limit that Before has set.
var memoryLimit atomic.Int64

// InTime has garbage collected before usualMemory is in use.
func InTime() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	memoryLimit.Store(usualMemory)
	debug.SetMemoryLimit(usualMemory)
	runtime.AddCleanup(new(*int), judgeMemory, struct{}{})
}

// judgeMemory sets the limit of memory after a collection, and has itself called after the next
// one.
func judgeMemory(struct{}) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	limit := memoryLimit.Load()
	if live := int64(sample[0].Value.Uint64()); limit == usualMemory && live > usualLive {
		if limit = live + usualMemory - usualLive; limit > mostMemory {
			limit = math.MaxInt64
		}
	}
	debug.SetMemoryLimit(limit)
	runtime.AddCleanup(new(*int), judgeMemory, struct{}{})
}

// Before has garbage collected before limit bytes of memory are in use, until restore
// is called.
func Before(limit int64) (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before, was := memoryLimit.Swap(limit), debug.SetMemoryLimit(limit)
	return func() {
		memoryLimit.Store(before)
		debug.SetMemoryLimit(was)
	}
}
