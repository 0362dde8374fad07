//go:build linux && (amd64 || arm64)

package server_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A call that does not come back leaves no signals blocked that the function has blocked. What a
// function that returns has blocked stays blocked.
func TestCallsBlockSignals(t *testing.T) {
	gdbtest.NeedAMD64(t) // the number of pause(2)
	p := gdbtest.Start(t, gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread"))
	before := signals(t, p.PID)
	const both = "SigBlk:\t0000000008000800" // SIGWINCH is 28, SIGUSR2 12
	if strings.Contains(before, both) {
		t.Fatal(before)
	}
	s := attach(t, p, true)
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	if _, err := client.Call(-1, "blocks(1)", false); err == nil || !strings.Contains(err.Error(), "in blocks: the function was ended by SIGSEGV") {
		t.Errorf("a fault: %v", err)
	}
	if after := signals(t, p.PID); after != before {
		t.Errorf("behind a fault: signals\n%s\nbefore\n%s", after, before)
	}
	done := make(chan error, 1)
	go func() {
		_, err := client.Call(-1, "blocks(2)", false)
		done <- err
	}()
	gdbtest.Await(t, "the function is in pause(2)", func() bool {
		call, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.PID))
		return err == nil && strings.HasPrefix(string(call), "34 ") && strings.Contains(signals(t, p.PID), both)
	})
	if _, err := client.Halt(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil || err.Error() != "the function was interrupted; the thread was put back" {
		t.Errorf("halted: %v", err)
	}
	if after := signals(t, p.PID); after != before {
		t.Errorf("behind a call that was halted: signals\n%s\nbefore\n%s", after, before)
	}
	if state, err := client.Call(-1, "blocks(3)", false); err != nil || returned(state) != "3" {
		t.Errorf("%+v, %v", state, err)
	}
	if after := signals(t, p.PID); !strings.Contains(after, both) {
		t.Errorf("behind a function that has returned: signals\n%s", after)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	checkRuns(t, p)
}
