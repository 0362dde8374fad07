//go:build linux && (amd64 || arm64)

package delve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestTailCalls looks at C functions that have left by a tail call. The source tells the stack.
func TestTailCalls(t *testing.T) {
	exe := gdbtest.Build(t, "delvetail", "CGO_ENABLED=1")
	p := gdbtest.StartRunning(t, exe)
	tg, err := delve.NewTarget(delvetest.Attach(t, p.PID).Selected)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	frames, err := delve.Frames(tg, delve.Thread(p.PID), delve.Options{Depth: 100})
	if err != nil {
		t.Fatal(err)
	}
	const want = "C.c_last [C.c_second] [C.c_first] C.c_calls"
	var list []string
	for i := range frames {
		f := &frames[i]
		name := f.Function.Name()
		if f.TailCall {
			name = "[" + name + "]"
			if f.Physical != frames[i-1].Physical || f.FrameOffset != frames[i-1].FrameOffset {
				t.Errorf("%s is laid over %v", name, f.Physical)
			}
			if !strings.HasSuffix(f.File, "main.go") || f.Line <= 0 {
				t.Errorf("%s is at %s:%d", name, f.File, f.Line)
			}
			if _, err := f.Scope(); !errors.Is(err, delve.ErrNoVariables) {
				t.Errorf("%s has variables: %v", name, err)
			}
		}
		list = append(list, name)
	}
	if got := strings.Join(list, " "); !strings.Contains(got, want) || !strings.Contains(got, "main.inC main.main") {
		t.Errorf("the stack is %s, want %s in it", got, want)
	}
}
