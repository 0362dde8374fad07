//go:build linux

package gdbtest

import (
	"encoding/binary"
	"slices"
	"strings"
	"syscall"
	"testing"
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
		case "saves_all": // chain.c puts these values in before it calls the next one
			if f.Registers[12] != 0xa1112 || f.Registers[15] != 0xa1115 || f.Registers[3] != 0xa11b {
				t.Errorf("registers of saves_all: %#x", f.Registers)
			}
			if f.Line == 0 || !strings.HasSuffix(f.File, "chain.c") {
				t.Errorf("saves_all is at %s:%d", f.File, f.Line)
			}
		}
	}
	// gdb has let go of it, and it is as it was.
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
		// The innermost inlined call is a frame of the type of what it is inlined
		// into in no case: in gdb the outer function has the physical frame.
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
	if s := p.States(t); s != "T" {
		t.Errorf("state after gdb is %s: it does not leave a stopped process stopped", s)
	}
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
	for i, thread := range threads[1:] {
		if thread.TID <= threads[i].TID {
			t.Errorf("thread %d after %d", thread.TID, threads[i].TID)
		}
		names := functionsOf(thread)
		if !strings.HasPrefix(thread.Name, "worker-") ||
			!containsRun(names, "wait_forever", "level", "level", "level", "level", "level", "thread_main") {
			t.Errorf("thread %s: %v", thread.Name, names)
		}
	}
}

func TestRecordSteps(t *testing.T) {
	program := Build(t, "steps.c", Plain...)
	functions := Functions(t, program, "step_")
	if len(functions) < 20 || slices.Contains(functions, "drive") {
		t.Fatalf("functions are %v", functions)
	}
	rec := RecordSteps(t, program, functions, 500)
	if !strings.Contains(rec.Maps, program) || !strings.Contains(rec.Maps, "[stack]") {
		t.Errorf("maps are\n%s", rec.Maps)
	}
	seen := make(map[string]int)
	var entry *StepState
	for i := range rec.States {
		s := &rec.States[i]
		seen[s.Function]++
		sp, pc := s.Regs[7], s.Regs[16]
		if s.Expected[0].PC != pc || s.StackAddr != sp-128 {
			t.Fatalf("step %d: PC %#x, frame %+v, stack at %#x", i, pc, s.Expected[0], s.StackAddr)
		}
		if i == 0 || s.Function != rec.States[i-1].Function {
			entry = s
		}
		// The truth, apart from gdb: at the first instruction the return
		// address is on top of the stack, and while the PC is in the function
		// itself its frame is the same one.
		var word [8]byte
		if n, err := entry.ReadMemory(entry.Regs[7], word[:]); n != 8 || err != nil {
			t.Fatalf("step %d: %d, %v", i, n, err)
		}
		ret, cfa := binary.LittleEndian.Uint64(word[:]), entry.Regs[7]+8
		f := s.Expected[0]
		if entry == s && (f.CFA != cfa || s.Expected[1].PC != ret) {
			t.Errorf("%s: first instruction: CFA %#x caller %#x, want %#x %#x", s.Function, f.CFA, s.Expected[1].PC, cfa, ret)
		}
	}
	for _, name := range functions {
		// step_drap is called from step_pushed_args, which is being stepped through.
		if seen[name] == 0 && name != "step_drap" {
			t.Errorf("%s was not recorded", name)
		}
	}
	t.Logf("%d states", len(rec.States))

	s := &rec.States[0]
	if n, err := s.ReadMemory(s.StackAddr+uint64(len(s.Stack))-4, make([]byte, 8)); n != 4 || err == nil {
		t.Errorf("reading over the end of the stack: %d, %v", n, err)
	}
	if n, err := s.ReadMemory(8, make([]byte, 8)); n != 0 || err == nil {
		t.Errorf("reading elsewhere: %d, %v", n, err)
	}
}

func TestProcessEnds(t *testing.T) {
	path := Build(t, "chain.c", Plain...)
	var pid int
	t.Run("inner", func(t *testing.T) {
		p := Start(t, path)
		p.Stop(t) // a stopped one must end, too
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
