package command

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// slice is for how long a thread of ours may keep a processor that a thread of the
// target wants, in nanoseconds: the least that the kernel allows.
const slice = 100_000

// shortSlices asks the kernel for short time slices. The target runs again while its
// stacks are unwound, perhaps on as few processors as we do, and what waits for one
// that we have would stand still for 3 ms, which is longer than it was stopped. Kernels
// before 6.12 do not listen; nothing else depends on it.
func shortSlices() {
	threads, _ := os.ReadDir("/proc/self/task") // those that start later inherit it
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
