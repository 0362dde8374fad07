//go:build linux && (amd64 || arm64)

package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// An editor calls C functions from the frames of Go and of C. A pause ends a call. Calls of Go
// functions are Delve's.
func TestDAPCalls(t *testing.T) {
	s, client := stopped(t)
	inC := goroutineIn(t, client, "main.waitsInC").ID
	c := connectDAP(t, s.addr)
	evaluate := func(frame int, expr string) dap.EvaluateArguments {
		return dap.EvaluateArguments{FrameId: frame, Expression: expr, Context: "repl"}
	}
	call := func(frame int, expr, want string) {
		t.Helper()
		if got := ask[dap.EvaluateResponse](c, "evaluate", evaluate(frame, expr)).Body; got.Result != want {
			t.Errorf("%s in frame %d: %+v, want %s", expr, frame, got, want)
		}
	}
	fails := func(frame int, expr, want string) {
		t.Helper()
		if got := refused(c, "evaluate", evaluate(frame, expr)); !strings.Contains(got, want) {
			t.Errorf("%s in frame %d: %s, want %s", expr, frame, got, want)
		}
	}
	main := ask[dap.ThreadsResponse](c, "threads", nil).Body.Threads
	selected := main[slices.IndexFunc(main, func(th dap.Thread) bool { return strings.HasPrefix(th.Name, "*") })].Id
	frames := c.stackTrace(selected, 0, 10).StackFrames
	fails(frames[0].Id, "call c_calls_back(4)", "calls a Go function")
	call(frames[0].Id, "call double(4)", "8")
	fails(frames[1].Id, "call double(4)", "call is only supported with topmost stack frame")
	fails(frames[0].Id, "call nothing(4)", "could not find symbol value for nothing")
	if _, err := client.ClearBreakpoint(1); err != nil { // a goroutine that comes to it slows calls down
		t.Fatal(err)
	}
	inner := c.stackTrace(int(inC), 0, 10).StackFrames
	for _, frame := range []int{0, frames[0].Id, frames[1].Id, inner[0].Id, inner[1].Id} {
		call(frame, "call c_half(9)", "4.5")
		call(frame, `call (long) strlen("four")`, "4")
		fails(frame, "call c_fault(0)", "in c_fault: the function was ended by SIGSEGV (address 0x0); the thread was put back")
	}
	call(inner[1].Id, "call c_calls_back(4)", "9")
	fails(frames[0].Id, "c_half(9)", "c_half")

	path := filepath.Join(t.TempDir(), "begun")
	asked := c.send("evaluate", evaluate(inner[0].Id, fmt.Sprintf("call c_never(%q)", path)))
	gdbtest.Await(t, "the call is under way", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	c.send("pause", dap.PauseArguments{ThreadId: 1})
	var r dap.ErrorResponse
	if err := json.Unmarshal(c.next(), &r); err != nil || r.RequestSeq != asked || r.Body.Error == nil || !strings.Contains(r.Body.Error.Format, "the function was interrupted; the thread was put back") {
		t.Errorf("paused: %+v, %v", r, err)
	}
	if text := string(c.next()); !strings.Contains(text, `"pause"`) {
		t.Errorf("pause: %s", text)
	}
	call(inner[0].Id, "call c_half(3)", "1.5")
}
