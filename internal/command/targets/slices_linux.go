package targets

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// slice is how long one of our threads may keep a processor that a thread of the target wants, in
// nanoseconds: the least that the kernel allows.
const slice = 100_000

// ShortSlices asks the kernel for short time slices. The target runs again while we unwind its
// stacks. A thread of the target that waits for our processor would otherwise stand still for
// 3 ms, longer than it was stopped. Kernels before 6.12 ignore the request; nothing else depends on
// it.
func ShortSlices() {
	threads, _ := os.ReadDir("/proc/self/task") // later threads inherit it
	for _, t := range threads {
		tid, _ := strconv.Atoi(t.Name())
		attr, err := unix.SchedGetAttr(tid, 0)
		if err != nil || attr.Policy != unix.SCHED_NORMAL {
			continue
		}
		attr.Runtime = slice
		unix.SchedSetAttr(tid, attr, 0)
	}
}
