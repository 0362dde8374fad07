//go:build linux && (amd64 || arm64)

package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"
	"github.com/go-delve/delve/service/rpc2"
	"github.com/google/go-dap"
	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// buildCalls builds delvecalls for debugging.
func buildCalls(t testing.TB) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "cc")
	return gdbtest.Build(t, "delvecalls", "CGO_ENABLED=1", "CGO_CFLAGS=-g -O1", "-gcflags=all=-N -l")
}

// step is a command for dlv with what it must answer: a regular expression; "same" stands for what
// it has answered first, and ! for what must not be there.
type step struct{ command, want string }

func runSteps(t testing.TB, steps []step, with ...string) {
	t.Helper()
	var commands []string
	for _, x := range steps {
		commands = append(commands, x.command)
	}
	said := dlv(t, commands, with...)
	first := map[string]string{}
	for i, x := range steps {
		if i == len(said) {
			break // exit
		}
		text := said[i]
		before, again := first[x.command]
		if !again {
			before, first[x.command] = text, text
		}
		unwanted, not := strings.CutPrefix(x.want, "!")
		switch {
		case x.want == "same" && text != before:
			t.Errorf("(dlv) %s\n%s\nthe first time\n%s", x.command, text, before)
		case not && strings.Contains(text, unwanted):
			t.Errorf("(dlv) %s\n%s", x.command, text)
		case x.want != "same" && !not && !regexp.MustCompile(x.want).MatchString(text):
			t.Errorf("(dlv) %s\n%s\nwant %s", x.command, text, x.want)
		}
	}
}

// callsOfC are calls that any thread can make. The C standard and the source say what they return.
func callsOfC(pid int) []step {
	return []step{
		{"call getpid()", `~r0: ` + strconv.Itoa(pid) + `\n`},
		{"call C.getpid()", `~r0: ` + strconv.Itoa(pid) + `\n\tnote: what getpid returns is not known: taken for an int; cast it`},
		{`call (long) strlen("C.five")`, `~r0: 6\n`},
		{`call toupper(abs(-97))`, `~r0: 65\n`},
		{`call c_half(5)`, `~r0: 2.5\n`},
		{`call C.c_pair(1.5, 8)`, `~r0: {x = 4.5, n = 7}\n`},
		{`call c_deep(3)`, `~r0: 3\n`},
		{`call c_fault(0)`, `failed: in c_fault: the function was ended by SIGSEGV \(address 0x0\); the thread was put back\n`},
		{`call abort()`, `failed: in .*: the function was ended by SIGABRT; the thread was put back\n`},
		{"call c_half(6)", `~r0: 3\n`},
	}
}

// The real dlv calls C functions from Go code. All registers are then what they were, and the
// breakpoints and the stack.
func TestDlvCallsC(t *testing.T) {
	s := serve(t, debugger.Config{}, false, buildCalls(t))
	steps := []step{{"break main.stopsHere", ""}, {"continue", "main.stopsHere"}, {"clear 1", ""}, {"break main.double", ""}}
	looks := []step{{"regs -a", "same"}, {"stack", "same"}, {"args", "same"}, {"thread", ""}}
	steps = append(steps, looks...)
	steps = append(steps, callsOfC(s.dbg.ProcessPid())...)
	steps = append(steps,
		step{"call c_calls_back(4)", `failed: the function calls a Go function`},
		step{"call no_such_function(1)", `failed: could not find symbol value for no_such_function\n`},
		step{"call abs(nothing)", `failed: .*No symbol "nothing" in current context`},
		step{"call abs(1", `failed: 1:\d+: missing ','`},
		step{"print getpid()", `failed: .*could not find symbol value for getpid`},
	)
	steps = append(steps, looks...)
	steps = append(steps, step{"goroutine 1 call c_half(8)", `~r0: 4\n`}, step{"thread", ""})
	steps = append(steps, step{"breakpoints -a", "!-100"}, step{"clear 2", ""}, step{"call double(4)", `~r0: 8\n`}, step{"next", "main.stopsHere"}, step{"exit", ""})
	runSteps(t, steps, "connect", s.addr)
}

// Calls of Go functions are Delve's own.
func TestDlvCallsGo(t *testing.T) {
	path := buildCalls(t)
	commands := []string{"break main.stopsHere", "continue", "call double(4)", "call main.double(n+3)", "call double(\"x\")", "call double()", "call nothing(1)", "call n = 7", "print n", "call double(", "call runtime.Stack(nil, false)", "exit"}
	theirs := dlv(t, commands, "exec", path)
	ours := dlv(t, commands, "connect", serve(t, debugger.Config{}, false, path).addr)
	volatile := regexp.MustCompile(`(hits goroutine\(\d+\):\d+ total:\d+|0x[0-9a-f]+|Breakpoint \d+|dlv\) $)`)
	for i, command := range commands[:len(commands)-1] {
		one, two := volatile.ReplaceAllString(theirs[i], ""), volatile.ReplaceAllString(ours[i], "")
		if one != two {
			t.Errorf("(dlv) %s\n%s\ndlv alone:\n%s", command, two, one)
		}
	}
}

// stopped serves delvecalls, stopped in Go code, with a client.
func stopped(t testing.TB) (*served, *rpc2.RPCClient) {
	t.Helper()
	s := serve(t, debugger.Config{}, true, buildCalls(t))
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	if _, err := client.CreateBreakpoint(&api.Breakpoint{FunctionName: "main.stopsHere"}); err != nil {
		t.Fatal(err)
	}
	if state := <-client.Continue(); state.Err != nil {
		t.Fatal(state.Err)
	}
	client.SetReturnValuesLoadConfig(&api.LoadConfig{})
	return s, client
}

// returned returns what a call has returned.
func returned(state *api.DebuggerState) string {
	for _, th := range state.Threads {
		if th.CallReturn && len(th.ReturnValues) > 0 {
			return th.ReturnValues[0].Value
		}
	}
	return "nothing"
}

// goroutineIn returns the goroutine that a function has begun.
func goroutineIn(t testing.TB, client *rpc2.RPCClient, function string) *api.Goroutine {
	t.Helper()
	list, _, err := client.ListGoroutines(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(g *api.Goroutine) bool { return g.StartLoc.Function.Name() == function })
	if i < 0 {
		t.Fatalf("no goroutine of %s", function)
	}
	return list[i]
}

// Breakpoints that other goroutines come to during a call are reported afterwards.
func TestCallsBreakpoints(t *testing.T) {
	_, client := stopped(t)
	if _, err := client.ClearBreakpoint(1); err != nil {
		t.Fatal(err)
	}
	b, err := client.CreateBreakpoint(&api.Breakpoint{FunctionName: "main.ticks"})
	if err != nil {
		t.Fatal(err)
	}
	state, err := client.Call(-1, "c_sleeps(100)", false)
	if err != nil || state.CurrentThread.Function.Name() != "main.stopsHere" || returned(state) != "100" {
		t.Errorf("%+v, %v", state, err)
	}
	if now, err := client.GetBreakpoint(b.ID); err != nil || now.TotalHitCount != 0 {
		t.Errorf("%+v, %v", now, err)
	}
	if state := <-client.Continue(); state.Err != nil || state.CurrentThread.Function.Name() != "main.ticks" || state.CurrentThread.Breakpoint == nil || state.CurrentThread.Breakpoint.TotalHitCount != 1 {
		t.Errorf("%+v", state)
	}
}

// A call that does not come back is halted.
func TestCallsHalted(t *testing.T) {
	s, client := stopped(t)
	stack := func() (pcs string) {
		frames, err := client.Stacktrace(-1, 10, 0, 0, nil)
		for _, f := range frames {
			pcs += fmt.Sprintf(" %#x", f.PC)
		}
		return fmt.Sprintln(pcs, err)
	}
	before := stack()
	state, err := client.GetState()
	if err != nil {
		t.Fatal(err)
	}
	pid, at := state.Pid, state.CurrentThread.ID
	begin := func(goroutine int64) (done chan error) {
		done = make(chan error, 1)
		path := filepath.Join(t.TempDir(), "begun")
		go func() {
			_, err := client.Call(goroutine, fmt.Sprintf("c_never(%q)", path), false)
			done <- err
		}()
		gdbtest.Await(t, "the call is under way", func() bool {
			select {
			case err := <-done:
				t.Fatalf("the call has ended: %v", err)
			default:
			}
			_, err := os.Stat(path)
			return err == nil
		})
		return done
	}
	for _, where := range []int64{-1, goroutineIn(t, client, "main.waitsInC").ID} {
		done := begin(where)
		over := make(chan struct{})
		go func() { // Go's runtime does so whenever a thread runs for long
			for tick := time.NewTicker(time.Millisecond); ; {
				select {
				case <-over:
					tick.Stop()
					return
				case <-tick.C:
					unix.Tgkill(pid, at, unix.SIGURG)
				}
			}
		}()
		if state, err := client.GetStateNonBlocking(); err != nil || !state.Running {
			t.Errorf("during a call: %+v, %v", state, err)
		}
		if _, err := client.Halt(); err != nil {
			t.Error(err)
		}
		if err := <-done; err == nil || err.Error() != "the function was interrupted; the thread was put back" {
			t.Errorf("halted: %v", err)
		}
		close(over)
		if after := stack(); after != before {
			t.Errorf("%s\nbefore the call\n%s", after, before)
		}
	}
	begin(-1) // the server ends in the middle of a call
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// No signal is left for a process whose call was halted when Delve leaves it.
func TestCallsHaltedAndLeft(t *testing.T) {
	gdbtest.NeedAMD64(t) // the number of pause(2)
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", "-g"))
	s := attach(t, p, true)
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	client.SetReturnValuesLoadConfig(&api.LoadConfig{})
	editor := connectDAP(t, s.addr)
	for i, halt := range []func(){
		func() {
			if _, err := client.Halt(); err != nil {
				t.Error(err)
			}
		},
		func() { ask[dap.Response](editor, "pause", dap.PauseArguments{ThreadId: 1}) },
	} {
		done := make(chan error, 1)
		go func() {
			_, err := client.Call(-1, "pause()", false)
			done <- err
		}()
		gdbtest.Await(t, "the process is in pause(2)", func() bool {
			call, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.PID))
			return err == nil && strings.HasPrefix(string(call), "34 ")
		})
		halt()
		if err := <-done; err == nil || err.Error() != "the function was interrupted; the thread was put back" {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	checkRuns(t, p)
	if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.PID)); !strings.HasPrefix(string(b), "0 ") {
		t.Errorf("the process is not in read(2) any more: %s", b)
	}
}

// A call may end the process.
func TestCallsExit(t *testing.T) {
	s := serve(t, debugger.Config{}, false, buildCalls(t))
	runSteps(t, []step{{"break main.stopsHere", ""}, {"continue", "main.stopsHere"}, {"call exit(3)", `has exited with status 3`}, {"exit", ""}}, "connect", s.addr)
}

// The threads of a C program, which has no handlers of signals, call functions.
func TestCallsInC(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", "-g"))
	before := signals(t, p.PID)
	s := attach(t, p, true)
	runSteps(t, []step{
		{"regs -a", "same"},
		{"call getpid()", fmt.Sprintf(`~r0: %d\n`, p.PID)},
		{`call (char *) strchr("a text", 116)`, `~r0: 0x[0-9a-f]+ "text"\n`},
		{"call (long) strlen(1)", `failed: in .*strlen.*: the function was ended by SIGSEGV \(address 0x1\)`},
		{"call abort()", `failed: in .*: the function was ended by SIGABRT; the thread was put back`},
		{"regs -a", "same"},
		{"call (long) signal(4, 1)", `~r0: `}, // what the function itself changes stays: SIGILL is ignored
		{"exit -d", ""}, {"n", ""},
	}, "connect", s.addr)
	if err := s.end(); err != nil {
		t.Error(err)
	}
	checkRuns(t, p)
	ignored := regexp.MustCompile(`SigIgn:\t(\w+)`)
	before = ignored.ReplaceAllStringFunc(before, func(field string) string {
		set, err := strconv.ParseUint(ignored.FindStringSubmatch(field)[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("SigIgn:\t%016x", set|8)
	})
	if after := signals(t, p.PID); after != before {
		t.Errorf("signals\n%s\nbefore\n%s", after, before)
	}
}

// A call must not end its thread, which Delve would not survive.
func TestCallsEndThread(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", "-g", "-pthread"), "20")
	before := signals(t, p.PID)
	s := attach(t, p, true)
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	threads, err := client.ListThreads()
	if err != nil || len(threads) != 21 {
		t.Fatalf("%v, %v", threads, err)
	}
	th := threads[slices.IndexFunc(threads, func(th *api.Thread) bool { return th.ID != p.PID })].ID
	if _, err := client.SwitchThread(th); err != nil {
		t.Fatal(err)
	}
	client.SetReturnValuesLoadConfig(&api.LoadConfig{})
	if _, err := client.Call(-1, "pthread_exit(0)", false); err == nil || !strings.Contains(err.Error(), "the function would end its thread") {
		t.Errorf("pthread_exit: %v", err)
	}
	if state, err := client.Call(-1, "gettid()", false); err != nil || returned(state) != strconv.Itoa(th) {
		t.Errorf("%+v, %v", state, err)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if after := signals(t, p.PID); after != before {
		t.Errorf("signals\n%s\nbefore\n%s", after, before)
	}
	checkRuns(t, p)
}
