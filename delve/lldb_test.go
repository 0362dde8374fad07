//go:build linux && (amd64 || arm64)

package delve_test

import (
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc/gdbserial"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestLLDB has Delve control the process through LLDB's server instead of by itself.
func TestLLDB(t *testing.T) {
	gdbtest.Tool(t, "lldb-server")
	delvetest.Quiet(t)
	exe := delvetest.Cgo(t)
	p := gdbtest.StartRunning(t, exe, "main")
	grp, err := gdbserial.LLDBAttach(p.PID, exe, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer grp.Detach(false)
	// LLDB's server does not tell Delve which goroutine a thread runs: ask for threads.
	tg := open(t, grp.Selected)
	found := make(map[string]bool)
	for _, th := range grp.Selected.ThreadList() {
		frames, err := delve.Frames(tg, delve.Thread(th.ThreadID()), delve.Options{Depth: 100})
		if err != nil {
			t.Error(err)
			continue
		}
		if last := &frames[len(frames)-1]; !last.Bottom || last.Err != "" {
			t.Errorf("the stack ends with %s", describe(&last.Stackframe))
		}
		found[functions(frames, exe)] = true
	}
	for _, m := range mixed {
		if isParked := strings.HasPrefix(m.name, "parked"); !isParked && !found[m.want] {
			t.Errorf("no thread has the stack\n%s\nbut %v", m.want, found)
		}
	}
}
