package stacks_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A probe has replaced the return address, and what is saved of the process does not name the
// kernel's page: its stack is the living process's.
func TestReturnProbeSaved(t *testing.T) {
	program := gdbtest.Build(t, "uretprobe.c", "-g", "-O2")
	gdbtest.ProbeReturns(t, program, "probed")
	p := gdbtest.Start(t, program, "once")
	saved, dump := filepath.Join(t.TempDir(), "saved"), filepath.Join(t.TempDir(), "dump")
	for _, how := range [][]string{{saved}, {dump, "--format", "minidump"}} {
		if _, errs, err := commandtest.Run(append([]string{"attach", fmt.Sprint(p.PID), "--save"}, how...)...); err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
	}
	died := coreOfCrash(t, program, "once", "dies")
	for _, how := range [][]string{{"open", saved}, {"core", saved}, {"minidump", dump}, {"core", died}} {
		out, errs, err := commandtest.Run(how...)
		if err != nil {
			t.Errorf("%v: %v\n%s", how, err, errs)
		}
		at := 0
		for _, want := range []string{" in waits ", " in probed ", " in [uprobes] [guess]", " in once ", " in main "} {
			i := strings.Index(out[at:], want)
			if i < 0 {
				t.Fatalf("%v: no %q behind the frame before in\n%s", how, want, out)
			}
			at += i
		}
	}
}
