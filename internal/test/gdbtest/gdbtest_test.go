//go:build linux

package gdbtest

import (
	"encoding/binary"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// functionsOf returns the names of the frames, innermost first.
func functionsOf(thread Thread) []string {
	var names []string
	for _, f := range thread.Frames {
		names = append(names, f.Function)
	}
	return names
}

// containsRun reports whether want stands in names, in this order and without gaps.
func containsRun(names []string, want ...string) bool {
	for i := range names {
		if i+len(want) <= len(names) && slices.Equal(names[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func TestBacktraceChain(t *testing.T) {
	p := Start(t, Build(t, "chain.c", Plain...))
	threads := Backtrace(t, p.PID, WithRegisters())
	if len(threads) != 1 || threads[0].TID != p.PID || threads[0].Name != "chain" {
		t.Fatalf("threads = %+v, want one, named chain", threads)
	}
	frames := threads[0].Frames
	names := functionsOf(threads[0])
	if !containsRun(names, "block", "leaf", "big_args", "no_saves", "saves_all", "saves_rbx", "outer", "main") {
		t.Fatalf("functions are %v", names)
	}
	if last := names[len(names)-1]; last != "_start" {
		t.Errorf("the outermost function is %s, want _start", last)
	}
	if threads[0].Stop == "" {
		t.Error("no stop reason")
	}
	for i, f := range frames {
		if f.Level != i || f.PC == 0 || f.Registers[16] != f.PC {
			t.Errorf("frame %d: %+v", i, f)
		}
		// The definition of the CFA on amd64: THIS frame's is PREVIOUS's stack pointer.
		if i+1 < len(frames) && f.Physical() && frames[i+1].Physical() && frames[i+1].Registers[7] != f.CFA {
			t.Errorf("frame %d: CFA %#x, but frame %d has rsp %#x", i, f.CFA, i+1, frames[i+1].Registers[7])
		}
		switch f.Function {
		case "saves_all": // chain.c puts these values into the registers before the next call
			if f.Registers[12] != 0xa1112 || f.Registers[15] != 0xa1115 || f.Registers[3] != 0xa11b {
				t.Errorf("registers of saves_all: %#x", f.Registers)
			}
			if f.Line == 0 || !strings.HasSuffix(f.File, "chain.c") {
				t.Errorf("saves_all is at %s:%d", f.File, f.Line)
			}
		}
	}
	// gdb has detached, and the process is as before.
	if s := p.States(t); s != "S" {
		t.Errorf("state after gdb is %s, want S", s)
	}
	again := Backtrace(t, p.PID, WithRegisters())
	for i, f := range again[0].Frames {
		if f.PC != frames[i].PC || f.CFA != frames[i].CFA {
			t.Errorf("frame %d differs the second time: %+v, %+v", i, f, frames[i])
		}
	}
	if err := p.Exit(t); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

func TestBacktraceTypes(t *testing.T) {
	p := Start(t, Build(t, "sighandler.c", Plain...), "alt", "fault")
	names := functionsOf(Backtrace(t, p.PID)[0])
	types := make(map[string]string)
	for _, f := range Backtrace(t, p.PID)[0].Frames {
		types[f.Type] = f.Function
	}
	if _, ok := types["sigtramp"]; !ok || len(names) < 6 {
		t.Errorf("no frame of type sigtramp in %v", names)
	}

	p = Start(t, Build(t, "inline.c", Plain...))
	for _, f := range Backtrace(t, p.PID)[0].Frames {
		inlined := slices.Contains([]string{"once", "twice", "in_1", "in_2", "in_3", "in_4"}, f.Function)
		// An inlined call never has another type, not even the innermost: in gdb, the physical
		// frame is the outer function's.
		if inlined != (f.Type == "inline") && strings.HasSuffix(f.File, "inline.c") {
			t.Errorf("frame %d, %s, has type %s", f.Level, f.Function, f.Type)
		}
		if inlined != (f.Artificial > 0) && strings.HasSuffix(f.File, "inline.c") {
			t.Errorf("frame %d, %s, has depth %d", f.Level, f.Function, f.Artificial)
		}
	}
}

func TestBacktraceLimit(t *testing.T) {
	p := Start(t, Build(t, "recurse.c", Plain...), "300")
	thread := Backtrace(t, p.PID, WithLimit(100))[0]
	if len(thread.Frames) != 100 || thread.Stop != "limit" {
		t.Errorf("%d frames, stop %q; want 100, limit", len(thread.Frames), thread.Stop)
	}
	if n := len(Backtrace(t, p.PID)[0].Frames); n < 304 {
		t.Errorf("%d frames without a limit, want at least 304", n)
	}
}

func TestStopped(t *testing.T) {
	p := StartRunning(t, Build(t, "inline.c", Plain...), "spin")
	p.Stop(t)
	first := Backtrace(t, p.PID)[0].Frames
	// The stop that gdb leaves it with needs a processor.
	Await(t, "it is stopped after gdb, too", func() bool { return p.States(t) == "T" })
	second := Backtrace(t, p.PID)[0].Frames
	if first[0].PC != second[0].PC || first[0].CFA != second[0].CFA {
		t.Errorf("a stopped process moved from %+v to %+v", first[0], second[0])
	}
	p.Continue(t)
	if strings.Contains(p.States(t), "T") {
		t.Error("still stopped")
	}
}

func TestThreads(t *testing.T) {
	p := Start(t, Build(t, "threads.c", Plain...), "12", "5")
	threads := Backtrace(t, p.PID)
	if len(threads) != 13 {
		t.Fatalf("%d threads, want 13", len(threads))
	}
	for i, thread := range threads {
		if i > 0 && thread.TID <= threads[i-1].TID {
			t.Errorf("thread %d after %d", thread.TID, threads[i-1].TID)
		}
		if thread.TID == p.PID { // its number is not the lowest if the kernel has begun again at low numbers
			continue
		}
		names := functionsOf(thread)
		if !strings.HasPrefix(thread.Name, "worker-") ||
			!containsRun(names, "wait_forever", "level", "level", "level", "level", "level", "thread_main") {
			t.Errorf("thread %s: %v", thread.Name, names)
		}
	}
}

func TestRecordSteps(t *testing.T) {
	for _, flags := range [][]string{
		Plain,
		{"-g", "-O2", "-fno-omit-frame-pointer"},
		{"-g", "-O0"},
		{"-O2", "-mavx2", "-fcf-protection", "-fstack-clash-protection", "-Wa,--gsframe"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			program := Build(t, "steps.c", flags...)
			functions := Functions(t, program, "step_")
			if len(functions) < 20 || slices.Contains(functions, "drive") {
				t.Fatalf("functions are %v", functions)
			}
			rec := RecordSteps(t, program, functions, 1000)
			if !strings.Contains(rec.Maps, program) || !strings.Contains(rec.Maps, "[stack]") {
				t.Errorf("maps are\n%s", rec.Maps)
			}
			checkSteps(t, rec)
			for _, name := range functions {
				// step_drap is called from step_pushed_args, which is being stepped through.
				if name != "step_drap" && !slices.ContainsFunc(rec.States, func(s StepState) bool { return s.Function == name }) {
					t.Errorf("%s was not recorded", name)
				}
			}
			t.Logf("%d states", len(rec.States))
		})
	}
}

// checkSteps compares gdb's frames with independent facts: at a function's first instruction, the
// return address is on top of the stack; and until the function has returned, one frame has the CFA
// above that address, and this caller.
func checkSteps(t *testing.T, rec *Recording) {
	t.Helper()
	var function string
	var cfa, caller uint64
	deep := 0
	for i := range rec.States {
		s := &rec.States[i]
		sp, pc := s.Regs[7], s.Regs[16]
		if s.Expected[0].PC != pc || s.StackAddr != sp-128 {
			t.Fatalf("state %d: PC %#x, stack at %#x, sp %#x, frame %+v", i, pc, s.StackAddr, sp, s.Expected[0])
		}
		if s.First {
			var word [8]byte
			if n, err := s.ReadMemory(sp, word[:]); n != 8 || err != nil {
				t.Fatalf("state %d: %d, %v", i, n, err)
			}
			function, cfa, caller = s.Function, sp+8, binary.LittleEndian.Uint64(word[:])
		}
		var physical []Frame
		for _, f := range s.Expected {
			if f.Physical() {
				physical = append(physical, f)
			}
		}
		if physical[0].Function == "step_drap" && function != "step_drap" {
			continue // gcc's CFI gives its caller a wrong rbp at the end: see steps.c
		}
		at := slices.IndexFunc(physical, func(f Frame) bool { return f.CFA == cfa })
		switch {
		case at < 0 && physical[len(physical)-1].CFA < cfa:
			deep++ // more calls than frames were recorded
		case at < 0 || at+1 < len(physical) && physical[at+1].PC != caller:
			t.Errorf("state %d, %s, PC %#x: no frame with CFA %#x and caller %#x in %+v", i, function, pc, cfa, caller, s.Expected)
		case s.First && at != 0:
			t.Errorf("state %d: the first frame is not that of %s: %+v", i, function, s.Expected)
		}
	}
	if deep > len(rec.States)/5 {
		t.Errorf("%d of %d states are too deep to check", deep, len(rec.States))
	}
}

func TestReadMemory(t *testing.T) {
	s := &StepState{StackAddr: 0x1000, Stack: []byte{1, 2, 3, 4, 5, 6, 7, 8}}
	p := make([]byte, 8)
	for _, test := range []struct {
		addr uint64
		n    int
	}{{0x1000, 8}, {0x1004, 4}, {0x1008, 0}, {0xfff, 0}, {8, 0}, {^uint64(0), 0}} {
		n, err := s.ReadMemory(test.addr, p)
		if n != test.n || (err == nil) != (test.n == 8) {
			t.Errorf("ReadMemory(%#x) = %d, %v; want %d", test.addr, n, err, test.n)
		}
		if n == 4 && !slices.Equal(p[:4], []byte{5, 6, 7, 8}) {
			t.Errorf("ReadMemory(%#x) gives % x", test.addr, p[:4])
		}
	}
}

func TestProcessEnds(t *testing.T) {
	path := Build(t, "chain.c", Plain...)
	var pid int
	t.Run("inner", func(t *testing.T) {
		p := Start(t, path)
		p.Stop(t) // a stopped process must end, too
		pid = p.PID
	})
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d after its test: %v, want %v", pid, err, syscall.ESRCH)
	}
}

func TestBuildGo(t *testing.T) {
	p := StartRunning(t, Build(t, "gotarget"))
	p.Stop(t)
	for _, thread := range Backtrace(t, p.PID) {
		if containsRun(functionsOf(thread), "main.blockInRead", "main.lockedInner", "main.lockedOuter", "main.locked") {
			return
		}
	}
	t.Error("no thread is in main.locked")
}

func TestBuildCXX(t *testing.T) {
	p := Start(t, Build(t, "cxxwait.cc", Plain...))
	var all []string
	for _, thread := range Backtrace(t, p.PID) {
		all = append(all, functionsOf(thread)...)
	}
	for _, want := range []string{"shop::waits_on_condition", "shop::waits_on_future", "shop::sleeps", "main"} {
		if !slices.ContainsFunc(all, func(name string) bool { return strings.HasPrefix(name, want) }) {
			t.Errorf("%s is in no stack: %v", want, all)
		}
	}
}

// TestShare: two releases of Debian, one with an even number and one with an odd one, take all
// variants in two days, and so does any other machine.
func TestShare(t *testing.T) {
	today := time.Unix(1_700_000_000, 0)
	for _, name := range []string{"TestA", "TestB", "TestC/child", "TestDeadlocks"} {
		for variant := range 12 {
			debian, other := 0, 0
			for _, day := range []time.Time{today, today.Add(24 * time.Hour)} {
				for _, release := range []int{12, 13} {
					if inShare(name, variant, release, day) {
						debian++
					}
				}
				if inShare(name, variant, -1, day) {
					other++
				}
			}
			if debian != 1 || other != 1 {
				t.Errorf("variant %d of %s: taken %d and %d times, want once", variant, name, debian, other)
			}
		}
	}
}
