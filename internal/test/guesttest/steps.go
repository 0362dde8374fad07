//go:build linux

package guesttest

import (
	_ "embed"
	"encoding/json"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

//go:embed steps.py
var stepsPy string

// stepFrames is how many of gdb's frames each step has.
const stepFrames = 4

// A Step is a guest before one instruction.
type Step struct {
	Function string // the function that is stepped through (the PC may be in one that it calls)
	SP       uint64
	Frames   []gdbtest.Frame // with their registers, at most 4, frame 0 first
}

// Steps runs the guest under gdb-multiarch to its end and returns what gdb saw
// before each instruction of the functions named, from their first one until
// they have returned; what they call is stepped through, too. A guest that
// stands on system calls alone takes the same steps at every run.
func (g *Guest) Steps(t testing.TB, functions []string) []Step {
	t.Helper()
	params := g.params(t, g.Serve(t))
	params["functions"] = functions
	params["limit"] = stepFrames
	params["sp"] = map[string]string{"arm": "sp", "arm64": "sp", "386": "esp", "s390x": "r15"}[g.GOARCH]
	params["link"] = map[string]string{"arm": "lr", "arm64": "x30", "386": "", "s390x": "r14"}[g.GOARCH]
	script := gdbtest.StartScript(t, "gdb-multiarch", connectPy+stepsPy, params, g.Path)
	var steps []Step
	for {
		record := script.Next(t)
		if record == nil {
			break
		}
		var s Step
		if err := json.Unmarshal(record, &s); err != nil {
			t.Fatalf("gdb's answer for %s: %v", g.Path, err)
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		t.Fatalf("%s stopped in none of %q", g.Path, functions)
	}
	return steps
}
