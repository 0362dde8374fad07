package profile

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// On a terminal, one line says how the recording goes, until the last line takes its place.
// Elsewhere there is none.
func TestProgress(t *testing.T) {
	script := gdbtest.Tool(t, "script")
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	sfwalk := filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk")
	line := fmt.Sprintf("%s record %d --wall -d 2500ms -o %s", sfwalk, p.PID, filepath.Join(t.TempDir(), "p.folded"))
	out, err := exec.Command(script, "-qec", line, "/dev/null").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	progress := regexp.MustCompile(`\r\d+ s, \d+ samples \(Ctrl-C ends\)`)
	if !progress.Match(out) || !regexp.MustCompile(`\r +\r\d+ samples of 2 threads in `).Match(out) {
		t.Errorf("%q", out)
	}
	if out, err = exec.Command("sh", "-c", line).CombinedOutput(); err != nil || progress.Match(out) {
		t.Errorf("%v: %q", err, out)
	}
}
