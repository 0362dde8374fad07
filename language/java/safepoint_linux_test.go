package java_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
)

// TestSafepoint looks at a virtual machine that waits for a safepoint to which a thread does not
// come, so that jstack has no answer. The machine itself says which thread that is.
func TestSafepoint(t *testing.T) {
	gdbtest.Later(t, "java")
	dir := compileJava(t, "Hang.java")
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "java"), "-XX:+UnlockDiagnosticVMOptions", "-XX:-UseCountedLoopSafepoints", "-Xbatch",
		"-XX:+SafepointTimeout", "-XX:SafepointTimeoutDelay=1000", "-Xlog:safepoint=warning:stdout", "-cp", dir, "Hang")
	late := ""
	for late == "" {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatalf("the virtual machine says of no thread that it is late: %v", err)
		}
		if _, text, ok := strings.Cut(line, `# "`); ok {
			late, _, _ = strings.Cut(text, `"`)
		}
	}
	all := told(t, p.PID)
	id, operator := 0, 0
	for tid, th := range all {
		switch {
		case th.Name == late:
			id = tid
		case strings.Contains(th.State, "VM operation"):
			operator = tid
		}
	}
	if id == 0 || operator == 0 {
		t.Fatalf("thread %q is %d, the VM thread is %d", late, id, operator)
	}
	waits := func(th *language.Thread, kind string, owner int) bool {
		return len(th.Waits) == 1 && th.Waits[0].Kind == kind && th.Waits[0].Owner == owner
	}
	requested := false
	for tid, th := range all {
		switch {
		case tid == id:
			if th.State != "RUNNABLE, holds up the safepoint" || len(th.Waits) > 0 {
				t.Errorf("%q: %+v", late, th)
			}
		case tid == operator:
			if !strings.HasPrefix(th.State, "runs the VM operation") || !strings.Contains(th.State, "Collect") || !waits(th, "safepoint", id) {
				t.Errorf("the VM thread: %+v", th)
			}
		case th.Name == "main":
			requested = waits(th, "VM operation", operator) && strings.Contains(all[operator].State, "requested by thread "+strconv.Itoa(tid)+",")
			if !requested {
				t.Errorf("main: %+v", th)
			}
		case th.Name == "sleeps":
			if !waits(th, "safepoint", operator) {
				t.Errorf("%q: %+v", th.Name, th)
			}
		case strings.Contains(th.State, "holds up"):
			t.Errorf("%q: %+v", th.Name, th)
		}
	}
	if !requested {
		t.Error("nobody waits for the operation")
	}
}
