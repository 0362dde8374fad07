//go:build linux

package gdbtest

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"testing"
)

//go:embed backtrace.py
var backtracePy string

// A Thread is one thread's stack as gdb sees it.
type Thread struct {
	TID    int
	Name   string
	Frames []Frame
	Stop   string // why there are no more frames, in gdb's words
}

// A Frame is one frame as gdb sees it.
type Frame struct {
	Level      int
	Type       string // normal, inline, sigtramp, tailcall, dummy, arch
	PC         uint64
	CFA        uint64 // the frame ID's stack address; 0 if it has none
	Code       uint64 // the frame ID's code address, the function's start, an inlined call's entry PC; 0 if not known
	Artificial int    // the frame ID's depth of inlined and tail calls; 0 for a physical frame
	Function   string // empty if not known
	Module     string // path of the shared library; empty for the program itself
	File       string // empty without line information
	Line       int
	Debug      string // of an inlined call: the file whose debug information has it
	GDB        int    // and the release of gdb
	Info       string // what gdb's info frame prints, where the test asks for it
	// Registers holds what gdb knows of this frame's registers, by DWARF
	// number (RIP is 16). Note that gdb takes a register that no table
	// mentions for unchanged: only rbx, rbp, rsp, r12 to r15 and RIP can be
	// relied on in a caller. Nil unless WithRegisters was given.
	Registers map[int]uint64
}

// Physical reports whether the frame stands on the stack itself: the frames
// that an unwinder finds without debug information.
func (f *Frame) Physical() bool { return f.Type != "inline" && f.Type != "tailcall" }

// An Option changes what Backtrace asks for.
type Option func(params map[string]any)

// WithRegisters asks for each frame's registers.
func WithRegisters() Option { return func(p map[string]any) { p["registers"] = true } }

// WithLimit asks for at most n frames of each thread.
func WithLimit(n int) Option { return func(p map[string]any) { p["limit"] = n } }

// Backtrace attaches gdb to the process and returns its threads in the order
// of their IDs, each with its whole stack. The process must stand still:
// blocked in the kernel (Start) or stopped (Process.Stop), and nobody else may
// trace it. It goes on, or stays stopped, when gdb has detached.
func Backtrace(t testing.TB, pid int, opts ...Option) []Thread {
	t.Helper()
	threads := backtrace(t, pid, opts, "-p", strconv.Itoa(pid))
	enterInlined(t, pid, threads)
	return threads
}

// BacktraceCore returns what gdb reads of a core file of the process and of its
// program, as Backtrace does. Threads may have no names there.
func BacktraceCore(t testing.TB, pid int, program, core string, opts ...Option) []Thread {
	t.Helper()
	return backtrace(t, pid, opts, program, core)
}

func backtrace(t testing.TB, pid int, opts []Option, args ...string) []Thread {
	t.Helper()
	params := map[string]any{"pid": pid, "registers": false, "limit": 0}
	for _, opt := range opts {
		opt(params)
	}
	var threads []Thread
	for _, record := range runGDB(t, backtracePy, params, args...) {
		var thread Thread
		if err := json.Unmarshal(record, &thread); err != nil {
			t.Fatalf("gdb's answer for process %d: %v", pid, err)
		}
		threads = append(threads, thread)
	}
	if len(threads) == 0 {
		t.Fatalf("gdb found no thread in process %d", pid)
	}
	return threads
}
