package native_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// program is testdata/held.c, which runs.
type program struct {
	*gdbtest.Process
	symbols map[string]uint64
}

func start(t testing.TB, args ...string) *program {
	t.Helper()
	gdbtest.NeedAMD64(t)
	path := gdbtest.Build(t, "held.c", "-O1", "-g", "-pthread", "-no-pie", "-fno-pie")
	p := &program{symbols: symbolsOf(t, path)}
	p.Process = gdbtest.StartRunning(t, path, args...)
	return p
}

// symbolsOf returns the addresses of a program's symbols.
func symbolsOf(t testing.TB, path string) map[string]uint64 {
	t.Helper()
	symbols, err := readSymbols(path)
	if err != nil {
		t.Fatal(err)
	}
	return symbols
}

func readSymbols(path string) (map[string]uint64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Symbols()
	symbols := map[string]uint64{}
	for _, s := range list {
		symbols[s.Name] = s.Value
	}
	return symbols, err
}

func (p *program) attach(t testing.TB, o native.Options) *native.Process {
	t.Helper()
	held, err := native.Attach(t.Context(), p.PID, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Close() })
	return held
}

var long = &abi.Type{Kind: abi.Integer, Size: 8, Signed: true}

// call has a thread call a function of longs. It returns the event that has ended it: a fault at
// the return address if it came back.
func call(t *testing.T, p *native.Process, th *native.Thread, fn uint64, alone bool, args ...int64) (inferior.Event, uint64) {
	t.Helper()
	return callIn(t.Context(), t, p, th, fn, alone, args...)
}

func callIn(ctx context.Context, t *testing.T, p *native.Process, th *native.Thread, fn uint64, alone bool, args ...int64) (inferior.Event, uint64) {
	t.Helper()
	returned, err := begin(p, th, fn, args...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Resume(inferior.Resume{Thread: th, Alone: alone}); err != nil {
		t.Fatal(err)
	}
	e, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return e, returned
}

// begin saves a thread's state, and has it begin a function of longs. It returns the return
// address.
func begin(p *native.Process, th inferior.Thread, fn uint64, args ...int64) (returned uint64, err error) {
	a := p.Arch()
	f := &abi.Func{Result: long}
	var values []abi.Value
	for _, arg := range args {
		f.Params = append(f.Params, long)
		values = append(values, abi.Value{Type: long, Bytes: binary.NativeEndian.AppendUint64(nil, uint64(arg))})
	}
	sp, err := inferior.RegisterBytes(th, a.SP, 8)
	if err != nil {
		return 0, err
	}
	below := a.FrameAlign(a.Order.Uint64(sp) - uint64(a.RedZone) - 16)
	c, err := a.Calls.PushDummyCall(f, values, below, below)
	if err != nil {
		return 0, err
	}
	if err := th.Save(); err != nil {
		return 0, err
	}
	memory := p.Memory().(target.WritableMemory)
	if _, err := memory.WriteMemory(c.SP, c.Stack); err != nil {
		return 0, err
	}
	if _, err := memory.WriteMemory(below, a.Control.Breakpoint); err != nil {
		return 0, err
	}
	for _, r := range c.Registers {
		if err := th.WriteRegister(r.Reg, r.Offset, r.Bytes); err != nil {
			return 0, err
		}
	}
	return below, th.Jump(fn)
}

// result returns what a function has returned that has come back to its return address.
func result(t *testing.T, p *native.Process, e inferior.Event, returned uint64) int64 {
	t.Helper()
	a := p.Arch()
	pc, err := inferior.RegisterBytes(e.Thread, a.PC, 8)
	if err != nil {
		t.Fatal(err)
	}
	if e.Kind != inferior.Signalled || a.Order.Uint64(pc) != returned {
		t.Fatalf("event %+v at %#x, want a fault at %#x", e, pc, returned)
	}
	b, err := inferior.RegisterBytes(e.Thread, a.SystemResult, 8)
	if err != nil {
		t.Fatal(err)
	}
	return int64(a.Order.Uint64(b))
}

// A thread that is blocked in a system call calls a function, and then is in its system call as
// before.
func TestSystemCalls(t *testing.T) {
	for where, want := range map[string]string{
		"read": "read 1 0", "nanosleep": "nanosleep 0 0", "poll": "poll 0 0", "futextimeout": "futextimeout -1 110", "pollin": "pollin 1 0", "spinmain": "spinmain 1 0",
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			p := start(t, where)
			if where != "spinmain" {
				p.Rest(t)
			}
			held := p.attach(t, native.Options{Threads: []int{p.PID}})
			th := held.Thread(p.PID)
			for i := range int64(3) {
				e, returned := call(t, held, th, p.symbols["add"], false, 40, i)
				if got := result(t, held, e, returned); got != 40+i {
					t.Errorf("add(40, %d) is %d", i, got)
				}
				if err := th.Restore(); err != nil {
					t.Fatal(err)
				}
			}
			if where == "spinmain" {
				if _, err := held.Memory().(target.WritableMemory).WriteMemory(p.symbols["crashes"], []byte{1}); err != nil {
					t.Fatal(err)
				}
			}
			if err := held.Close(); err != nil {
				t.Fatal(err)
			}
			p.Stdin.Write([]byte("x"))
			line, err := p.Stdout.ReadString('\n')
			if err != nil || strings.TrimSpace(line) != want+" calls 3" {
				t.Errorf("%q, %v, want %q", line, err, want)
			}
			undisturbed(t, p.PID)
		})
	}
}

// undisturbed checks that nobody traces or holds a process.
func undisturbed(t testing.TB, pid int) {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, task.Name()))
		for line := range strings.Lines(string(text)) {
			if name, v, _ := strings.Cut(strings.TrimSpace(line), ":\t"); name == "TracerPid" && v != "0" || name == "State" && strings.ContainsAny(v[:1], "tT") {
				t.Errorf("thread %s: %s", task.Name(), line)
			}
		}
	}
}

// Faults, and calls that take too long, are undone.
func TestUndone(t *testing.T) {
	for name, signal := range map[string]int{"crash": 11, "aborts": 6, "sleeps": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "nanosleep")
			p.Rest(t)
			held := p.attach(t, native.Options{Threads: []int{p.PID}})
			th := held.Thread(p.PID)
			ctx, cancel := context.WithCancel(t.Context())
			if signal == 0 {
				cancel()
			}
			defer cancel()
			e, _ := callIn(ctx, t, held, th, p.symbols[name], false, 1000)
			if signal == 0 && e.Kind != inferior.Interrupted {
				t.Errorf("event %+v, want an interruption", e)
			}
			if signal != 0 && (e.Kind != inferior.Signalled || e.Signal.Number != signal) {
				t.Errorf("event %+v, want signal %d", e, signal)
			}
			if err := th.Restore(); err != nil {
				t.Fatal(err)
			}
			held.Close()
			line, err := p.Stdout.ReadString('\n')
			if err != nil || !strings.HasPrefix(line, "nanosleep 0 0") {
				t.Errorf("%q, %v", line, err)
			}
			undisturbed(t, p.PID)
		})
	}
}

// The guard that was prepared holds the next process.
func TestPrepare(t *testing.T) {
	p := start(t, "loop", "2")
	native.Prepare()
	guards := func() (list []string) {
		tasks, _ := filepath.Glob("/proc/self/task/*/children")
		for _, task := range tasks {
			children, _ := os.ReadFile(task)
			for _, child := range strings.Fields(string(children)) {
				if comm, _ := os.ReadFile("/proc/" + child + "/comm"); string(comm) == "inferior-guard\n" {
					list = append(list, child)
				}
			}
		}
		return list
	}
	var before []string
	gdbtest.Await(t, "the guard has begun", func() bool { before = guards(); return len(before) > 0 })
	held := p.attach(t, native.Options{})
	defer held.Close()
	if by := status(t, p.PID, p.PID, "TracerPid"); !slices.Contains(before, by) {
		t.Errorf("process %s holds it, prepared was one of %v", by, before)
	}
}
