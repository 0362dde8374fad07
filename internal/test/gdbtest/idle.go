//go:build linux

package gdbtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// idleLooks is at how many looks in a row, a second apart, gdb must have done nothing to be taken
// for idle.
const idleLooks = 30

// endIdle kills a process when the process that it has started, which is gdb, does nothing more, or
// has used more than limit of the processors' time. It returns then, or when ended is closed. A
// machine that is slow is not idle: work waits there.
func endIdle(p *os.Process, limit time.Duration, ended <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Duration(0)
	for idle := 0; idle < idleLooks && last <= limit; idle++ {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		child, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.Pid))
		if used, busy := workOf(strings.TrimSpace(string(child))); busy || used != last {
			idle, last = 0, used
		}
	}
	p.Kill()
}

// workOf returns how much of the processors' time a process has used, and whether it has work to do
// now, though it may have to wait for a processor or a disk.
func workOf(pid string) (used time.Duration, busy bool) {
	const tick = 10 * time.Millisecond // USER_HZ is 100
	for _, field := range statOf("/proc/" + pid + "/stat")[11:13] {
		n, _ := strconv.Atoi(field)
		used += time.Duration(n) * tick
	}
	threads, _ := os.ReadDir("/proc/" + pid + "/task")
	for _, thread := range threads {
		state := statOf("/proc/" + pid + "/task/" + thread.Name() + "/stat")[0]
		busy = busy || state == "R" || state == "D"
	}
	return used, busy
}

// statOf returns the fields of a thread's or a process's stat from its state on; empty ones when it
// has ended.
func statOf(path string) []string {
	text, _ := os.ReadFile(path)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // a name may hold anything
	return append(fields, make([]string, 15)...)
}
