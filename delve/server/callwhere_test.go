//go:build linux && (amd64 || arm64)

package server_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Goroutines in C can be called back. Those that no thread runs call nothing. Threads that wait for
// work go on waiting.
func TestCallsWhere(t *testing.T) {
	s, client := stopped(t)
	pid := s.dbg.ProcessPid()
	// alike continues until the kernel says the same of the signals of all threads, and returns
	// that. A thread that begins, that begins another, or that handles a signal blocks more than
	// the others for a moment.
	alike := func() (now string) {
		t.Helper()
		gdbtest.Await(t, "all threads block the same signals", func() bool {
			if now = signals(t, pid); strings.Count(now, "\n") == 1 {
				return true
			}
			if state := <-client.Continue(); state.Err != nil || state.CurrentThread.Function.Name() != "main.stopsHere" {
				t.Fatalf("the program does not go on: %+v; its threads had the signals\n%s", state, now)
			}
			return false
		})
		return now
	}
	masks := alike()
	call := func(goroutine int64, expr, want string) {
		t.Helper()
		state, err := client.Call(goroutine, expr, false)
		got := fmt.Sprint(err)
		if err == nil {
			got = returned(state)
		}
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("call %s in goroutine %d: %s, want %s", expr, goroutine, got, want)
		}
	}
	inC, parked := goroutineIn(t, client, "main.waitsInC"), goroutineIn(t, client, "main.parks")
	main := goroutineIn(t, client, "runtime.main").ID
	if _, err := client.ClearBreakpoint(1); err != nil { // a goroutine that comes to it slows calls down
		t.Fatal(err)
	}
	call(main, "c_calls_back(4)", "calls a Go function")
	for _, g := range []int64{-1, main, inC.ID} {
		call(g, "getpid()", fmt.Sprint("^", pid, "$"))
		call(g, "c_fault(16)", `in c_fault: the function was ended by SIGSEGV \(address 0x10\)`)
	}
	call(inC.ID, "c_calls_back(4)", "^9$")
	call(parked.ID, "c_half(1)", fmt.Sprintf("goroutine %d is parked: no thread runs it", parked.ID))
	if state, err := client.GetState(); err != nil || state.SelectedGoroutine == nil || state.SelectedGoroutine.ID != main {
		t.Errorf("the selected goroutine is another: %+v, %v", state, err)
	}
	threads, err := client.ListThreads()
	if err != nil {
		t.Fatal(err)
	}
	idle := 0
	for _, th := range threads {
		if now, err := client.GetThread(th.ID); th.GoroutineID == 0 && err == nil && now.GoroutineID == 0 {
			idle++
			if _, err := client.SwitchThread(th.ID); err != nil {
				t.Fatal(err)
			}
			const signalled = "it handles a signal, or has just begun"
			call(-1, "c_half(7)", `^3\.5$|`+signalled)
			call(-1, "c_fault(0)", `in c_fault: the function was ended by SIGSEGV \(address 0x0\)|`+signalled)
			if state, err := client.GetState(); err != nil || state.CurrentThread.ID != th.ID {
				t.Errorf("another thread is selected: %+v, %v", state, err)
			}
		}
	}
	if idle == 0 {
		t.Error("no thread waits for work")
	}
	if _, err := client.CreateBreakpoint(&api.Breakpoint{FunctionName: "main.stopsHere"}); err != nil {
		t.Fatal(err)
	}
	if now := alike(); now != masks {
		t.Errorf("after the calls, threads have the signals\n%s\nbefore\n%s", now, masks)
	}
}

// The garbage collector may be reading the stack of a goroutine in C that is called back.
func TestCallsWhileScanned(t *testing.T) {
	_, client := stopped(t)
	if _, err := client.ClearBreakpoint(1); err != nil {
		t.Fatal(err)
	}
	b, err := client.CreateBreakpoint(&api.Breakpoint{FunctionName: "runtime.scanstack"})
	if err != nil {
		t.Fatal(err)
	}
	const scanning = 0x1000 // _Gscan
	var inC *api.Goroutine
	for inC == nil || inC.Status&scanning == 0 {
		if state := <-client.Continue(); state.Err != nil {
			t.Fatal(state.Err)
		}
		inC = goroutineIn(t, client, "main.waitsInC")
	}
	if _, err := client.ClearBreakpoint(b.ID); err != nil {
		t.Fatal(err)
	}
	if state, err := client.Call(inC.ID, "c_calls_back(4)", false); err != nil || returned(state) != "9" {
		t.Errorf("%+v, %v", state, err)
	}
}
