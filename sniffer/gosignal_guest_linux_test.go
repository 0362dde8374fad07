package sniffer_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/frame"
)

// TestGoSignalARM64 makes a fault in Go reach the run time's handler, and a deferred function. The
// expected stacks come from the source.
func TestGoSignalARM64(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1") // or another signal may come first
	program := guestARM64.build(t)
	for _, tt := range []struct{ function, stack string }{
		{"runtime.(*sigctxt).preparePanic", "runtime.(*sigctxt).preparePanic runtime.sighandler runtime.sigtrampgo runtime.sigtramp <signal> main.faults main.panics main.main.func1 runtime.goexit"},
		{"main.panics.func1", "main.panics.func1 runtime.gopanic runtime.sigpanic main.faults main.panics main.main.func1 runtime.goexit"},
	} {
		s := guestARM64.emulate(t, program, "panics", "main.panics", tt.function)
		if got := s.functions(t); got != tt.stack {
			t.Errorf("at %s the stack is\n%s; want\n%s", tt.function, got, tt.stack)
		}
	}
}

// TestEntersSigreturnARM64: PC is behind the trampoline, as where a debugger stops a thread that
// enters sigreturn(2). SP is as at the handler's begin, where the trampoline is the return address.
func TestEntersSigreturnARM64(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1")
	const want = "<signal> main.faults main.panics main.main.func1 runtime.goexit"
	s := guestARM64.emulate(t, guestARM64.build(t), "panics", "main.panics", "runtime.sigtramp")
	pc, _ := s.regs.Get(arm64.X30)
	for _, at := range []uint64{pc, pc + 4, pc + 8} {
		s.regs.Set(arm64.PC, at)
		if got := s.functions(t); got != want {
			t.Errorf("at %#x the stack is\n%s; want\n%s", at, got, want)
		}
	}
}

// functions returns the functions of the thread's stack.
func (s *emulated) functions(t *testing.T) string {
	t.Helper()
	g := newGoSteps(t, s)
	stack, err := frame.New(s, s, g.table)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for f, err := range stack.All() {
		if err != nil {
			t.Error(err)
			break
		}
		name := g.function(f.AddressInBlock())
		if f.Type() == frame.SigTramp {
			name = "<signal>"
		}
		names = append(names, name)
	}
	if err := g.walker.Check(s, s); err != nil {
		t.Error(err)
	}
	return strings.Join(names, " ")
}
